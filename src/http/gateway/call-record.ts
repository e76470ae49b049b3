import { namedInHeaders } from '../../gateway/acting-as.ts';
import type { CallKind } from '../../gateway/call.ts';
import type { GatewayMetrics } from '../../gateway/metrics.ts';
import type { SecurityEventFields, SecurityEvents } from '../../security-events.ts';
import { nameOrNothing } from '../access-log.ts';
import type { Exchange } from '../exchange.ts';

/** What the log and the metrics record about a call. */
export interface CallRecord {
  /** A stream to the cluster begins: it may last for days, and may end only with the process. */
  began(exchange: Exchange): void;
  /** The call has been answered, with success or failure. */
  ended(exchange: Exchange, kind: CallKind): void;
}

/**
 * Counts each call that came to the gateway, and writes its lines of the audit trail: who, as whom, what, and how it went. A
 * stream has one at its beginning as well, with the same ids.
 */
export function createCallRecord(events: SecurityEvents, metrics: GatewayMetrics): CallRecord {
  return {
    began: (exchange) => {
      events.report('cluster_call_began', {
        ...whoAndWhat(exchange),
        impersonatedUser: impersonatedUser(exchange),
        ...whomAsked(exchange),
      });
    },
    ended: (exchange, kind) => {
      const { identity, info, status, upstreamMs } = exchange;
      if (!identity || !info) return;
      metrics.answered(info.verb, kind, status);
      events.report('cluster_call', {
        result: resultOf(status),
        ...whoAndWhat(exchange),
        impersonatedUser: upstreamMs === undefined ? undefined : impersonatedUser(exchange),
        ...whomAsked(exchange),
        status,
      });
    },
  };
}

/** The user that the cluster sees. */
const impersonatedUser = ({ identity, impersonation }: Exchange): string | undefined =>
  impersonation ? nameOrNothing(impersonation.subject.name) : identity?.name;

/** Characters of all groups in a line: with the other names, of 256 each, it stays below 8 KiB. */
const GROUPS_LENGTH = 256;

/** Whom the headers of the client ask for, granted or not. */
function whomAsked({ request }: Exchange): SecurityEventFields {
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

/** Translates the status into the audit trail's words. A call counts as ok when the cluster answered it, even with 404 or 422. */
function resultOf(status: number): 'ok' | 'refused' | 'throttled' | 'failed' {
  if (status === 401 || status === 403) return 'refused';
  if (status === 429) return 'throttled';
  return status >= 500 ? 'failed' : 'ok';
}
