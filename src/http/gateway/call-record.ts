import { namedInHeaders } from '../../gateway/acting-as.ts';
import type { CallKind } from '../../gateway/call.ts';
import type { GatewayMetrics } from '../../gateway/metrics.ts';
import type { SecurityEventFields, SecurityEvents } from '../../security-events.ts';
import { nameOrNothing } from '../access-log.ts';
import type { Exchange } from '../exchange.ts';
import { reported } from '../request-origin.ts';

/** Records calls in the audit trail and the metrics. */
export interface CallRecord {
  /** Records that a stream to the cluster begins: it may last for days, and the process may end before it. */
  began(exchange: Exchange): void;
  /** Records that the call has been answered, with success or failure. */
  ended(exchange: Exchange, kind: CallKind): void;
}

/**
 * Counts each call to the gateway, and writes its line of the audit trail: user, impersonated user, request and result. A stream has
 * another line when it begins, with the same ids.
 */
export function createCallRecord(events: SecurityEvents, metrics: GatewayMetrics): CallRecord {
  return {
    began: (exchange) => {
      const line = {
        ...whoAndWhat(exchange),
        impersonatedUser: impersonatedUser(exchange),
        ...permittedFields(exchange),
        ...requestedImpersonation(exchange),
      };
      events.report('cluster_call_began', line, reported(exchange));
    },
    ended: (exchange, kind) => {
      const { identity, info, status, upstreamMs, permitted } = exchange;
      if (!identity || !info) return;
      metrics.answered(info.verb, permitted ? 'permitted' : kind, status);
      const line = {
        result: resultOf(status),
        ...whoAndWhat(exchange),
        impersonatedUser: upstreamMs === undefined ? undefined : impersonatedUser(exchange),
        ...permittedFields(exchange),
        ...requestedImpersonation(exchange),
        status,
      };
      events.report('cluster_call', line, reported(exchange));
    },
  };
}

/** How the cluster was asked, as the caller or by our own account, and over how many namespaces. */
const permittedFields = ({ permitted }: Exchange): SecurityEventFields =>
  permitted ? { permitted: permitted.way, permittedNamespaces: permitted.namespaces } : {};

/** The user that the cluster sees; nobody if our own account reads what is then filtered. */
const impersonatedUser = ({ identity, impersonation, permitted }: Exchange): string | undefined =>
  permitted?.way === 'as_ourselves'
    ? undefined
    : impersonation
      ? nameOrNothing(impersonation.subject.name)
      : identity?.name;

/**
 * The most characters of all groups in a line. With the other names, each at most 256, a line stays below 8 KiB (A-36,
 * docs/promises.md).
 */
const GROUPS_LENGTH = 256;

/** The user and groups in the client's `Impersonate` headers, whether or not the impersonation is granted. */
function requestedImpersonation({ request }: Exchange): SecurityEventFields {
  const { user, groups } = namedInHeaders(request.rawHeaders);
  const shown: string[] = [];
  let length = 0;
  for (const group of groups) {
    const text = nameOrNothing(group) ?? '';
    if (length > 0 && length + text.length > GROUPS_LENGTH) break;
    length += text.length;
    shown.push(text);
  }
  const leftOut = groups.length - shown.length;
  return {
    asUser: nameOrNothing(user),
    asGroups: shown.length > 0 ? shown : undefined,
    asGroupsLeftOut: leftOut > 0 ? leftOut : undefined,
  };
}

function whoAndWhat({ identity, info, target, requestId, ownRequestId, source }: Exchange): SecurityEventFields {
  return {
    user: identity?.name,
    verb: info?.verb,
    group: nameOrNothing(info?.group),
    version: nameOrNothing(info?.version),
    resource: nameOrNothing(info?.resource),
    subresource: nameOrNothing(info?.subresource),
    namespace: nameOrNothing(info?.namespace),
    name: nameOrNothing(info?.name),
    path: info?.isResource ? undefined : nameOrNothing(target.path),
    requestId,
    ownRequestId,
    sid: identity?.sid,
    clientId: identity?.clientId,
    source,
  };
}

/** The audit trail's word for a status. A call is `ok` if the cluster answered it, even with 404 or 422. */
function resultOf(status: number): 'ok' | 'refused' | 'throttled' | 'failed' {
  if (status === 401 || status === 403) return 'refused';
  if (status === 429) return 'throttled';
  return status >= 500 ? 'failed' : 'ok';
}
