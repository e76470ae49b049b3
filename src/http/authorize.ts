import type { Authorizer, Decision, ResourceAttributes } from '../authorization/authorizer.ts';
import type { Identity } from '../oauth/identity.ts';
import { StatusError } from '../status-error.ts';
import type { AnswerDeadline } from './answer-deadline.ts';
import type { Exchange } from './exchange.ts';
import { resourceNotFound } from './refusals.ts';
import type { RequestInfo } from './request-info.ts';
import type { Outcome, Step } from './step.ts';

/**
 * Asks for the right to everything under /kapis that names a resource, before any route, cache or parameter is looked at
 * (U-04). What names none (discovery, unknown groups) has nothing to protect.
 */
export function createAuthorize(authorizer: Authorizer, deadline: AnswerDeadline): Step {
  return (exchange) => {
    const { identity, info } = exchange;
    if (!identity || !info) throw new Error('authorization comes after authentication and request info');
    if (info.prefix !== 'kapis' || !info.isResource) return 'next';
    if (exchange.target.segments.some(isNoName)) throw resourceNotFound();
    const decision = authorizer.authorize(identity, { resource: toAttributes(info) });
    const conclude = (made: Decision): Outcome => accept(exchange, made, { identity, info });
    return decision instanceof Promise ? deadline.bound(decision).then(conclude) : conclude(decision);
  };
}

/**
 * Groups, versions, resources, namespaces and names are DNS subdomains at most (RFC 1123): no longer word of a path can be one.
 * That holds for everybody, so the answer tells nobody anything, and the cluster is spared a review.
 */
const isNoName = (segment: string): boolean => segment.length > 253;

function accept(exchange: Exchange, decision: Decision, asked: { identity: Identity; info: RequestInfo }): Outcome {
  exchange.decision = decision;
  if (!decision.allowed) throw forbidden(asked.identity.name, asked.info);
  return 'next';
}

function toAttributes(info: RequestInfo): ResourceAttributes {
  const { verb, group, version, resource, subresource, namespace, name } = info;
  return {
    verb,
    group,
    version,
    resource,
    ...(subresource && { subresource }),
    ...(namespace && { namespace }),
    ...(name && { name }),
  };
}

/** The words of Kubernetes (`apimachinery` `errors.NewForbidden`, `apiserver` `responsewriters.ForbiddenStatus`). */
export function forbidden(user: string, info: RequestInfo): StatusError {
  const { verb, group, resource, subresource, namespace, name } = info;
  const what = group === '' ? resource : `${resource}.${group}`;
  const which = name === '' ? what : `${what} "${name}"`;
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return new StatusError({
    code: 403,
    reason: 'Forbidden',
    message: `${which} is forbidden: User "${user}" cannot ${verb} resource "${full}" in API group "${group}" ${where}`,
    details: { ...(name && { name }), ...(group && { group }), kind: resource },
  });
}
