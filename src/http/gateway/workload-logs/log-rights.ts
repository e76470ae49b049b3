import type { Authorizer, Decision, ResourceAttributes } from '../../../authorization/authorizer.ts';
import type { AnswerDeadline } from '../../chain/answer-deadline.ts';
import { forbidden } from '../../chain/authorize.ts';
import type { Exchange } from '../../exchange.ts';

/** The pods whose logs the caller may read. */
export interface LogRights {
  /**
   * Resolves to those of these pods whose logs the caller may not read. Rejects with a 403, in the words of Kubernetes, if the caller may
   * read none, in a namespace where the caller has no right to all.
   */
  refusedOf(exchange: Exchange, namespace: string, pods: readonly string[]): Promise<ReadonlySet<string>>;
  /** Rejects with a 403 if the caller may not watch these pods. */
  checkWatch(exchange: Exchange, watched: WatchedPods): Promise<void>;
}

interface WatchedPods {
  readonly namespace: string;
  /** The query of the watch. */
  readonly selection: Readonly<Record<string, string>>;
}

const PODS = { group: '', version: 'v1', resource: 'pods' };

/** Asks for the rights that the cluster checks when a stream begins, and that nobody checks while it is open. */
export function createLogRights(parts: {
  readonly authorizer: Authorizer;
  readonly deadline: AnswerDeadline;
}): LogRights {
  const decide = async (exchange: Exchange, resource: ResourceAttributes): Promise<Decision> => {
    const { authorizer, deadline } = parts;
    const subject = exchange.impersonation?.subject ?? exchange.signedIn.identity;
    const decision = await deadline.bound(Promise.resolve(authorizer.authorize(subject, { resource })));
    exchange.decided(exchange.decision?.source === 'stale' ? exchange.decision : decision);
    return decision;
  };
  const refuse = (exchange: Exchange, resource: ResourceAttributes): Error => {
    const { name } = exchange.impersonation?.subject ?? exchange.signedIn.identity;
    return forbidden(name, { ...NO_REQUEST, ...resource });
  };
  return {
    async refusedOf(exchange, namespace, pods) {
      const all = { ...PODS, verb: 'get', subresource: 'log', namespace };
      if ((await decide(exchange, all)).allowed) return new Set();
      const refused = new Set<string>();
      for (const name of pods) if (!(await decide(exchange, { ...all, name })).allowed) refused.add(name);
      if (refused.size === pods.length) throw refuse(exchange, { ...all, ...(pods[0] && { name: pods[0] }) });
      return refused;
    },
    async checkWatch(exchange, { namespace, selection }) {
      const { fieldSelector } = selection;
      // The name that a selector of one name gives the request: see `selectedName` in request-info.ts.
      const name = fieldSelector?.replace(/^metadata\.name=/, '');
      const watch = { ...PODS, verb: 'watch', namespace, ...(name && { name }), ...selection };
      if (!(await decide(exchange, watch)).allowed) throw refuse(exchange, watch);
    },
  };
}

/** The fields of a `RequestInfo` that these checks do not set. */
const NO_REQUEST = {
  isResource: true,
  prefix: 'api',
  namespace: '',
  name: '',
  subresource: '',
  fieldSelector: '',
  labelSelector: '',
};
