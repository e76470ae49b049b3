import type { CallKind } from '../../gateway/call.ts';
import type { GatewayMetrics } from '../../gateway/metrics.ts';
import type { SecurityEvents } from '../../security-events.ts';
import { nameOrNothing } from '../access-log.ts';
import type { Exchange } from '../exchange.ts';

/** Counts each call that came to the gateway, and writes its line of the audit trail: who, as whom, what, and how it went. */
export function createCallRecord(
  events: SecurityEvents,
  metrics: GatewayMetrics,
): (exchange: Exchange, kind: CallKind) => void {
  return (exchange, kind) => {
    const { identity, info, status, requestId, ownRequestId, source, upstreamMs } = exchange;
    if (!identity || !info) return;
    metrics.answered(info.verb, kind, status);
    events.report('cluster_call', {
      result: resultOf(status),
      user: identity.name,
      impersonatedUser: upstreamMs === undefined ? undefined : identity.name,
      verb: info.verb,
      group: nameOrNothing(info.group),
      version: nameOrNothing(info.version),
      resource: nameOrNothing(info.resource),
      subresource: nameOrNothing(info.subresource),
      namespace: nameOrNothing(info.namespace),
      name: nameOrNothing(info.name),
      path: info.isResource ? undefined : nameOrNothing(exchange.target.path),
      status,
      requestId,
      ownRequestId,
      sid: identity.sid,
      clientId: identity.clientId,
      source,
    });
  };
}

/** As the other acts of the trail have it. What the cluster does not find, or finds wrong, was answered all the same. */
function resultOf(status: number): 'ok' | 'refused' | 'throttled' | 'failed' {
  if (status === 401 || status === 403) return 'refused';
  if (status === 429) return 'throttled';
  return status >= 500 ? 'failed' : 'ok';
}
