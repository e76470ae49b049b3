import type { KindAnswer } from '../../kinds/catalog/kind-answer.ts';
import type { ClusterKind } from '../../kubernetes/discovery/cluster-kind.ts';
import { badRequest, StatusError } from '../../status-error.ts';
import { nothingServed } from '../answer/refusals.ts';
import type { Exchange, Outcome, Step } from '../exchange.ts';
import type { RequestInfo } from '../request-info.ts';

interface Resolver {
  resolve(name: string): KindAnswer | Promise<KindAnswer>;
}

export interface AskedKinds {
  /**
   * Finds the kind that the path names, and makes the request one for the kind's own group and resource: by these the caller is authorized,
   * and these are in refusals and in the log (KD-10).
   */
  readonly step: Step;
  /** The kind that `step` found. */
  of(exchange: Exchange): ClusterKind;
}

export function createAskedKinds(catalog: Resolver): AskedKinds {
  const asked = new WeakMap<Exchange, ClusterKind>();
  const own = new WeakMap<RequestInfo, { readonly kind: ClusterKind; readonly info: RequestInfo }>();
  /** The same object for the same request and kind, so that later steps can remember what they derive from it. */
  const ownInfo = (info: RequestInfo, kind: ClusterKind): RequestInfo => {
    const known = own.get(info);
    if (known?.kind === kind) return known.info;
    const { group, version, resource } = kind;
    const made = { ...info, group, version, resource };
    own.set(info, { kind, info: made });
    return made;
  };
  return {
    step(exchange) {
      const { info } = exchange.signedIn;
      const found = (answer: KindAnswer): Outcome => {
        const kind = servedKind(answer, info);
        asked.set(exchange, kind);
        exchange.asks(ownInfo(info, kind));
        return 'next';
      };
      const answer = catalog.resolve(info.resource);
      return answer instanceof Promise ? answer.then(found) : found(answer);
    },
    of(exchange) {
      const kind = asked.get(exchange);
      if (!kind) throw new Error('the kind of this request was not resolved');
      return kind;
    },
  };
}

/** Throws the refusal of a name that means no kind that can be served at this path. */
function servedKind(answer: KindAnswer, info: RequestInfo): ClusterKind {
  if ('unknown' in answer) throw nothingServed(info);
  if ('notListable' in answer) throw notOffered(info, answer.notListable);
  if ('denied' in answer) throw notOffered(info, `the list of ${info.resource} is not offered here`);
  if ('ambiguous' in answer) throw ambiguous(info.resource, answer.ambiguous);
  const { kind } = answer;
  const isInNamespace = info.namespace !== '';
  const fits = kind.namespaced ? isInNamespace || info.name === '' : !isInNamespace;
  if (!fits || info.subresource !== '') throw nothingServed(info);
  return kind;
}

const notOffered = ({ resource, group }: RequestInfo, message: string): StatusError =>
  new StatusError('NotFound', { message, details: { ...(group && { group }), kind: resource } });

function ambiguous(name: string, kinds: readonly ClusterKind[]): StatusError {
  const names = kinds.map(({ resource, group }) => `${resource}.${group}`).join(', ');
  return badRequest(`"${name}" is a resource of several groups: write one of ${names}`);
}
