import type { Authorizer, ResourceAttributes } from '../../authorization/authorizer.ts';
import type { Exchange, Outcome, Step } from '../exchange.ts';
import type { RequestInfo } from '../request-info.ts';
import type { AnswerDeadline } from './answer-deadline.ts';
import { forbidden, toAttributes } from './authorize.ts';
import { createImpersonate } from './impersonation.ts';

/**
 * Checks whether the caller of an open stream to the cluster still has the right to it. The access reviews match the cluster's own
 * check, including selectors (KEP-4601) and impersonation. The cluster itself checks only when a stream begins, so a withdrawn right
 * would last as long as the client keeps the stream open.
 */
export function createStillAuthorized(parts: {
  readonly authorizer: Authorizer;
  readonly deadline: AnswerDeadline;
}): Step {
  const impersonate = createImpersonate(parts);
  return async function stillAuthorized(exchange: Exchange): Promise<Outcome> {
    const { identity, info, impersonation, permitted } = exchange;
    if (impersonation) await impersonate(exchange, impersonation.asked);
    const before = impersonation && exchange.decision;
    const subject = impersonation?.subject ?? identity;
    // The rights to a permitted watch are in single namespaces, and the watch itself follows them.
    if (!subject || !info?.isResource || permitted) return 'next';
    const { authorizer, deadline } = parts;
    const attributes = withSelectors(toAttributes(info), info);
    const decision = await deadline.bound(Promise.resolve(authorizer.authorize(subject, { resource: attributes })));
    exchange.decided(before?.source === 'stale' ? before : decision);
    if (!decision.allowed) throw forbidden(subject.name, info);
    return 'next';
  };
}

export function withSelectors(
  attributes: ResourceAttributes,
  { fieldSelector, labelSelector }: RequestInfo,
): ResourceAttributes {
  return {
    ...attributes,
    ...(fieldSelector && { fieldSelector }),
    ...(labelSelector && { labelSelector }),
  };
}
