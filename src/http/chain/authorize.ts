import type { Authorizer, Decision, ResourceAttributes } from '../../authorization/authorizer.ts';
import type { Identity } from '../../oauth/tokens/identity.ts';
import { derived } from '../../runtime/derived.ts';
import { badRequest, notFound, StatusError } from '../../status-error.ts';
import { isClusterOwn } from '../../users/user.ts';
import { notServed } from '../answer/refusals.ts';
import type { Exchange, Method, Outcome, Step } from '../exchange.ts';
import type { RefusalThrottle } from '../limits/refusal-throttle.ts';
import { createRequestInfos, type RequestInfo } from '../request-info.ts';
import type { AnswerDeadline } from './answer-deadline.ts';

export interface AuthorizeParts {
  readonly authorizer: Authorizer;
  readonly deadline: AnswerDeadline;
  /** Whether the caller's right to this path is checked although no route serves it. */
  readonly isGuarded?: ((segments: readonly string[]) => boolean) | undefined;
  /** The platform's name, which is part of API groups. */
  readonly platform: string;
  /** Limits the rate of refusals when too many reviews are in flight or the cluster does not answer. */
  readonly throttle: RefusalThrottle;
}

/** Step 9 of the chain (docs/contract/http.md, section 1): from here on we know which resource the request asks for. */
export function createReadRequestInfo(): Step {
  const infoOf = createRequestInfos();
  return function readRequestInfo(exchange) {
    const info = infoOf(exchange.request.method ?? '', exchange.target);
    if ('fault' in info) throw badRequest(info.fault);
    exchange.asks(info);
    return 'next';
  };
}

/**
 * Authorizes each request for a resource under /kapis that a route serves, before any cache or parameter is read (N-32). A path without
 * a route is 404 for every signed-in caller, unless it is below a route with `guardsBelow`. That reveals nothing that discovery does not
 * list, and an invented path costs the cluster no review. A path without a resource (discovery) is not authorized. Users need no
 * right to read their own data.
 */
export function createAuthorize({ authorizer, deadline, throttle, isGuarded, platform }: AuthorizeParts): Step {
  const attributesOf = derived((info: RequestInfo) => ({ resource: toAttributes(info) }));
  return function authorize(exchange) {
    const { identity, info } = exchange.signedIn;
    if (info.prefix !== 'kapis' || !info.isResource) return 'next';
    if (!exchange.route && !isGuarded?.(exchange.target.segments)) throw notServed(info, platform);
    if (exchange.target.segments.some(isNoName)) throw notFound(info.resource, info.name);
    const own = ownAccess(exchange, identity);
    if (own === 'free') return 'next';
    const decision = authorizer.authorize(identity, attributesOf(info));
    const conclude = (made: Decision): Outcome => accept(exchange, made, { identity, info, own });
    if (!(decision instanceof Promise)) return conclude(decision);
    return deadline.bound(decision, exchange).then(conclude, (error) => throttle.refuse(exchange, error));
  };
}

/** What users may do with their own data without a right. A service account is not a user. */
function ownAccess({ route, request, parameters }: Exchange, { name }: Identity): 'free' | 'narrowed' | undefined {
  if (!route?.self || parameters[0] !== name || isClusterOwn(name)) return undefined;
  return route.self[request.method as Method];
}

/**
 * Whether a segment is too long for a group, version, resource, namespace or name, which have at most the length of a DNS subdomain
 * (RFC 1123). Every caller gets the same 404, so it reveals nothing, and it saves the cluster a review.
 */
const isNoName = (segment: string): boolean => segment.length > 253;

interface Asked {
  readonly identity: Identity;
  readonly info: RequestInfo;
  readonly own: 'narrowed' | undefined;
}

function accept(exchange: Exchange, decision: Decision, { identity, info, own }: Asked): Outcome {
  exchange.decided(decision);
  if (!decision.allowed && own === undefined && !exchange.route?.narrows?.(exchange))
    throw forbidden(identity.name, info);
  return 'next';
}

export function toAttributes(info: RequestInfo): ResourceAttributes {
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

/**
 * The wording of Kubernetes (`apimachinery` `errors.NewForbidden`, `apiserver` `responsewriters.ForbiddenStatus`), which quotes what was
 * asked for, so that no name reads as a part of the sentence.
 */
export function forbidden(user: string, info: RequestInfo): StatusError {
  const { verb, group, resource, subresource, namespace, name } = info;
  const what = group === '' ? resource : `${resource}.${group}`;
  const which = name === '' ? what : `${what} ${JSON.stringify(name)}`;
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  return new StatusError('Forbidden', {
    message: `${which} is forbidden: User ${JSON.stringify(user)} cannot ${verb} resource ${JSON.stringify(full)} in API group ${JSON.stringify(group)} ${where}`,
    details: { ...(name && { name }), ...(group && { group }), kind: resource },
  });
}
