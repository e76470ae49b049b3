import type { Passage } from '../kubernetes/passage/passage.ts';
import {
  PassageError,
  type PassageFault,
  type PassedAnswer,
  type PassedBody,
  type PassedCall,
} from '../kubernetes/passage/passed-call.ts';
import type { Upgraded } from '../kubernetes/passage/upgrade.ts';
import type { RefusedImpersonation } from '../kubernetes/status.ts';
import { unlessAborted } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import { badRequest, type StatusError } from '../status-error.ts';
import type { GatewayAccess } from './access.ts';
import { asksToImpersonate } from './acting-as.ts';
import { type CallKind, isLongRunning, type UpgradeProtocol } from './call.ts';
import type { CallerPolicy, GatewayCaller } from './caller.ts';
import { KnownGroups } from './known-groups.ts';
import type { GatewayMetrics, Refusal } from './metrics.ts';
import * as refusals from './refusals.ts';
import { copiedHeaders } from './request-headers.ts';

export interface GatewayOptions {
  /** Whether calls are passed on that the API server proxies to other servers (A-27, docs/promises.md). */
  readonly allowProxySubresources: boolean;
  /**
   * What happens to a call with `Impersonate` headers: it is refused with 403, or made as the user that it names if the
   * caller may impersonate that user.
   */
  readonly impersonation: 'refuse' | 'honour';
  /** What happens when the caller is in a group that the cluster does not let us impersonate: a 403, or a call without that group. */
  readonly unknownGroups: 'refuse' | 'drop';
}

export interface GatewayParts {
  readonly passage: Passage;
  readonly policy: CallerPolicy;
  readonly metrics: GatewayMetrics;
  readonly clock: Clock;
  /** Who may use the gateway. Absent: everybody whom the cluster lets us impersonate. */
  readonly access?: GatewayAccess | undefined;
  /** Called once for each group that is left out of calls. */
  onLeftOut(group: string): void;
  /** Called for a caller with a reserved name or group, whom the cluster would take for one of its own. */
  onReserved(call: GatewayCall): void;
}

/** One call, as it was received. */
export interface GatewayCall {
  /** The user who has signed in. */
  readonly caller: GatewayCaller;
  /** The user whom the caller asks to impersonate and may impersonate; the call is then made as this user. */
  readonly actingAs?: GatewayCaller | undefined;
  readonly kind: CallKind;
  /** Whether the API server passes it on to another server (`isProxied` in call.ts). */
  readonly isProxied: boolean;
  readonly method: string;
  /** Path and query, as sent. The path has been checked: every server reads it in the same way. */
  readonly target: string;
  /** Each name, followed by its value, as sent. */
  readonly rawHeaders: readonly string[];
  /** The client's full address, not cut to /64. */
  readonly address: string;
  readonly requestId: string;
  /** Chosen by us and never by the caller; the cluster's audit log has the same id. */
  readonly auditId: string;
  /** Called before the call is sent to the cluster; not called when the call is refused. */
  onSend?(): void;
  readonly body?: PassedBody | undefined;
}

export interface UpgradeCall extends GatewayCall {
  readonly protocol: UpgradeProtocol;
  /** The subprotocols that a WebSocket client offers, without the one that carries its bearer token. */
  readonly subprotocols: readonly string[];
}

/** Passes calls on to the cluster. A call impersonates its caller, or the user that its caller may impersonate, and nobody else. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #parts: GatewayParts;
  readonly #groups: KnownGroups | undefined;

  constructor(options: GatewayOptions, parts: GatewayParts) {
    this.#options = options;
    this.#parts = parts;
    const { clock, onLeftOut } = parts;
    const refusedGroup = (caller: GatewayCaller): Promise<string | undefined> => this.#refusedGroup(caller);
    this.#groups = options.unknownGroups === 'drop' ? new KnownGroups({ clock, onLeftOut, refusedGroup }) : undefined;
  }

  /** Whether callers may use `Impersonate` headers. */
  get honoursImpersonation(): boolean {
    return this.#options.impersonation === 'honour';
  }

  get metrics(): GatewayMetrics {
    return this.#parts.metrics;
  }

  /**
   * Sends the call to the cluster, and the answer back while it arrives. Rejects with a `StatusError` when nothing was sent or no
   * answer came, and with another error when the answer broke off after it had begun.
   */
  async forward(call: GatewayCall, answer: PassedAnswer, signal: AbortSignal): Promise<void> {
    this.#admit(call);
    const caller = this.#isAsked(call) ? await this.#known(call, signal) : madeAs(call);
    const passed = this.#prepare(call, caller);
    call.onSend?.();
    await this.#parts.passage.send(passed, answer, signal).catch((error) => this.fail(error, call));
  }

  /**
   * The user that the cluster would see, after all checks of the call. Rejects with the refusal of a call that must not be sent, and when
   * the cluster does not answer.
   */
  async admitted(call: GatewayCall, signal: AbortSignal): Promise<GatewayCaller> {
    this.#admit(call);
    return this.#isAsked(call) ? this.#known(call, signal) : madeAs(call);
  }

  /**
   * Asks the cluster to upgrade the connection to another protocol. Resolves to the cluster's end of the connection, or to
   * `undefined` when the cluster has answered without an upgrade. Rejects as `forward` does.
   */
  async upgrade(call: UpgradeCall, answer: PassedAnswer, signal: AbortSignal): Promise<Upgraded | undefined> {
    const { passage } = this.#parts;
    const more = ['Upgrade', call.protocol === 'websocket' ? 'websocket' : 'SPDY/3.1'];
    if (call.protocol === 'websocket') more.push('Origin', passage.origin);
    if (call.subprotocols.length > 0) more.push('Sec-WebSocket-Protocol', call.subprotocols.join(', '));
    this.#admit(call);
    const caller = this.#isAsked(call) ? await this.#known(call, signal) : madeAs(call);
    const passed = this.#prepare(call, caller, { upgrade: more });
    call.onSend?.();
    return passage.upgrade(passed, answer, signal).catch((error) => this.fail(error, call));
  }

  /**
   * Throws a 403 for a user or group that may never be impersonated here, whatever the cluster's RBAC says. Unlike a call of a
   * reserved caller, this is not written to the audit trail, because any caller can write any name into a header.
   */
  admitTarget(asked: Pick<GatewayCaller, 'name' | 'groups'>): void {
    const { policy, metrics } = this.#parts;
    if (!policy.isReserved(asked)) return;
    metrics.refused('impersonate_header');
    throw refusals.reservedTarget();
  }

  /**
   * Throws unless the caller, and the user whom the caller impersonates, may use the gateway: a 403, or a 503 while the cluster is
   * about to allow it.
   */
  checkAccess(caller: GatewayCaller, actingAs?: GatewayCaller | undefined): void {
    const { access, metrics } = this.#parts;
    if (!access) return;
    for (const one of actingAs ? [caller, actingAs] : [caller]) {
      const state = access(one);
      if (state === 'granted') continue;
      metrics.refused(one === actingAs ? 'impersonate_header' : REFUSED_ACCESS[state]);
      throw refusals.noAccess(state, one.name);
    }
  }

  /** Throws the refusal of a call that must not be sent to the cluster. */
  #admit(call: GatewayCall): void {
    const { policy, metrics, onReserved } = this.#parts;
    const { caller, rawHeaders } = call;
    if (policy.isReserved(caller)) {
      metrics.refused('reserved_identity');
      onReserved(call);
      throw refusals.reservedIdentity();
    }
    if (call.actingAs) this.admitTarget(call.actingAs);
    this.checkAccess(caller, call.actingAs);
    const unsendable = this.#groups ? undefined : policy.unsendableGroup(madeAs(call));
    if (unsendable !== undefined) {
      metrics.refused(notActingAs(call));
      throw refusals.unsendableGroup(unsendable);
    }
    if (this.#options.impersonation === 'refuse' && asksToImpersonate(rawHeaders)) {
      metrics.refused('impersonate_header');
      throw refusals.impersonationRefused();
    }
    if (call.isProxied && !this.#options.allowProxySubresources) {
      metrics.refused('proxy_subresource');
      throw refusals.proxyRefused();
    }
  }

  /**
   * Whether the cluster is asked which of the caller's groups we may impersonate. Only a caller's own groups are left out if the cluster
   * refuses them. Groups in `Impersonate-Group` were named on purpose, so the cluster refuses the call.
   */
  #isAsked(call: GatewayCall): boolean {
    return this.#groups !== undefined && !call.actingAs;
  }

  /** The caller without the groups that the cluster does not let us impersonate. */
  async #known(call: GatewayCall, signal: AbortSignal): Promise<GatewayCaller> {
    const known = (this.#groups as KnownGroups).of(madeAs(call));
    return unlessAborted(known, signal).catch((error) =>
      this.fail(signal.aborted ? new PassageError('left', error) : error, call),
    );
  }

  /**
   * Sends a call that every user may make, so that a refusal can only be about the impersonation. Resolves to the group that the
   * cluster refused.
   */
  async #refusedGroup(caller: GatewayCaller): Promise<string | undefined> {
    const { passage, policy, metrics } = this.#parts;
    const headers = policy.headersOf(caller);
    policy.assertOf(headers, caller);
    const call = { method: 'GET', target: '/version', headers, isLongRunning: false };
    try {
      await passage.send(call, { start: () => {}, data: () => undefined }, new AbortController().signal);
      metrics.groupsReviewed('allow');
      return undefined;
    } catch (error) {
      const isDenied = error instanceof PassageError && error.fault === 'impersonation';
      metrics.groupsReviewed(isDenied ? 'deny' : 'error');
      if (!isDenied) throw error;
      return error.refused?.resource === 'groups' ? error.refused.name : undefined;
    }
  }

  /** Builds the call that is sent to the cluster; `upgrade`: the headers that ask for one. Throws a 400 for a header with control characters. */
  #prepare(
    call: GatewayCall,
    caller: GatewayCaller,
    { upgrade }: { readonly upgrade?: readonly string[] } = {},
  ): PassedCall {
    const { policy, metrics } = this.#parts;
    const { kind, method, target, rawHeaders, address, auditId, body } = call;
    const copied = copiedHeaders(rawHeaders, { isUpgrade: upgrade !== undefined });
    if ('badHeader' in copied) {
      metrics.refused('header');
      throw badRequest(`the request is malformed: its header ${copied.badHeader} has a control character`);
    }
    const own = ['X-Forwarded-For', address, 'Audit-ID', auditId];
    const headers = copied.concat(upgrade ?? [], own, policy.headersOf(caller));
    policy.assertOf(headers, caller);
    return { method, target, headers, body, isLongRunning: isLongRunning(kind) };
  }

  /** Throws the answer to a call that failed at the passage, and counts it. */
  fail(error: unknown, call: GatewayCall): never {
    const { target } = call;
    const caller = madeAs(call);
    if (!(error instanceof PassageError)) throw error;
    const mayBeEchoed = error.fault === 'impersonation' && mentionsImpersonation(target);
    const reason = error.fault === 'impersonation' ? notActingAs(call) : error.fault;
    if (reason !== 'left' && !mayBeEchoed) this.#parts.metrics.refused(reason);
    if (error.fault !== 'impersonation') throw ANSWERS[error.fault](error);
    this.#groups?.forget(caller);
    throw refusals.mayNotImpersonate(ownOf(error.refused, caller), error);
  }
}

const REFUSED_ACCESS = { 'not-chosen': 'not_chosen', soon: 'not_granted_yet', stuck: 'not_granted' } as const;

/** The user that the cluster sees. */
const madeAs = ({ caller, actingAs = caller }: GatewayCall): GatewayCaller => actingAs;

/**
 * The metric's reason for a call that the cluster does not let us make as this user. `impersonation` raises an alert; a user or
 * group from the caller's own `Impersonate` headers does not.
 */
const notActingAs = ({ actingAs }: GatewayCall): Refusal => (actingAs ? 'impersonate_header' : 'impersonation');

/** The refused user or group if it is the caller's own, which the answer may name; else nothing. */
function ownOf(refused: RefusedImpersonation | undefined, { name, groups }: GatewayCaller): RefusedImpersonation {
  if (refused?.name === undefined) return {};
  const isOwn = refused.resource === 'users' ? refused.name === name : groups.includes(refused.name);
  return isOwn ? refused : {};
}

/**
 * Whether the word `impersonate` in the message of a 403 may come from the caller's path, whose resource and name the cluster
 * repeats. The caller gets the same answer then, but the call is not counted, so that it raises no alert for the operator.
 */
const mentionsImpersonation = (target: string): boolean =>
  target
    .replaceAll(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    .includes('impersonate');

const ANSWERS: Readonly<Record<Exclude<PassageFault, 'impersonation'>, (error: PassageError) => StatusError>> = {
  unreachable: refusals.badGateway,
  credential: refusals.badGateway,
  timeout: refusals.timedOut,
  away: refusals.away,
  full: refusals.away,
  left: refusals.badGateway,
};
