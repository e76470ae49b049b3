import { readActingAs } from '../../gateway/acting-as.ts';
import { type CallKind, isLongRunning, isProxied } from '../../gateway/call.ts';
import type { Gateway, GatewayCall } from '../../gateway/gateway.ts';
import { rightEnded } from '../../gateway/refusals.ts';
import { type StatusError, serviceUnavailable } from '../../status-error.ts';
import { unauthorized } from '../answer/refusals.ts';
import type { Impersonate } from '../chain/impersonation.ts';
import type { Exchange } from '../exchange.ts';
import type { CallRecord } from './call-record.ts';
import type { StreamEnd } from './tunnel.ts';

/** If the call has `Impersonate` headers and the caller may impersonate that user, the call is made as that user. */
export async function takeImpersonation(
  exchange: Exchange,
  { gateway, impersonate }: { readonly gateway: Gateway; readonly impersonate: Impersonate },
): Promise<void> {
  const asked = readActingAs(exchange.request.rawHeaders);
  if (!asked) return;
  gateway.admitTarget(asked);
  exchange.impersonation = await impersonate(exchange, asked);
}

/** The refusal of a call that we have ended before its answer began. */
export function endedEarly(why: StreamEnd, platform: string): StatusError {
  if (why === 'revoked')
    return unauthorized('the session has ended', `Bearer realm="${platform}", error="invalid_token"`);
  return why === 'forbidden' ? rightEnded() : serviceUnavailable('the server is stopping', 1);
}

/** The call of this exchange, as the gateway takes it. */
export function callOf(exchange: Exchange, kind: CallKind, record: CallRecord): GatewayCall {
  const { identity, info } = exchange.signedIn;
  const { impersonation, request, address, requestId, ownRequestId, rawTarget, target } = exchange;
  // Only path and query of an absolute-form target are passed on (RFC 9112 3.2.2).
  const exact = rawTarget.startsWith('/') ? rawTarget : originForm(target);
  return {
    caller: identity,
    actingAs: impersonation && { ...impersonation.subject, sid: identity.sid },
    kind,
    isProxied: isProxied(info, exchange.upgrade !== undefined),
    method: request.method ?? '',
    target: exact,
    rawHeaders: request.rawHeaders,
    address,
    requestId,
    auditId: ownRequestId ?? requestId,
    ...(isLongRunning(kind) ? { onSend: () => record.began(exchange) } : {}),
  };
}

const originForm = ({ path, query }: Exchange['target']): string => (query === '' ? path : `${path}?${query}`);
