import type { Authorizer, Decision } from '../../authorization/authorizer.ts';
import { type ActingAs, type Impersonation, rightsToImpersonate } from '../../gateway/acting-as.ts';
import { AUTHENTICATED } from '../../gateway/caller.ts';
import type { Exchange } from '../exchange.ts';
import type { AnswerDeadline } from './answer-deadline.ts';
import { forbidden } from './authorize.ts';

/** Resolves to the user that the call is made as, if the caller may impersonate the user and all groups. Rejects with a 403 otherwise. */
export type Impersonate = (exchange: Exchange, asked: ActingAs) => Promise<Impersonation>;

interface ImpersonateParts {
  readonly authorizer: Authorizer;
  readonly deadline: AnswerDeadline;
}

/**
 * Makes the checks of kube-apiserver (`k8s.io/apiserver/pkg/endpoints/filters`, `WithImpersonation`): whether the caller has the right to
 * `impersonate` the user and each group. As there, the impersonated user is in `system:authenticated`.
 */
export function createImpersonate({ authorizer, deadline }: ImpersonateParts): Impersonate {
  return async (exchange, asked) => {
    const { identity } = exchange.signedIn;
    let overall: Decision | undefined;
    for (const { resource, name } of rightsToImpersonate(asked)) {
      const attributes = { verb: 'impersonate', group: '', version: '', resource, name };
      const decision = await deadline.bound(Promise.resolve(authorizer.authorize(identity, { resource: attributes })));
      // One stale decision makes the whole decision stale.
      overall = overall?.source === 'stale' ? overall : decision;
      exchange.decided(overall);
      if (!decision.allowed) throw forbidden(identity.name, { ...NO_REQUEST, ...attributes });
    }
    return { asked, subject: { name: asked.name, uid: '', groups: [...new Set([...asked.groups, AUTHENTICATED])] } };
  };
}

/** The fields of a `RequestInfo` that the check of an impersonation does not set. */
const NO_REQUEST = {
  isResource: true,
  prefix: 'api',
  namespace: '',
  subresource: '',
  fieldSelector: '',
  labelSelector: '',
};
