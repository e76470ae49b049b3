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
import { asksToImpersonate } from './acting-as.ts';
import { type CallKind, isLongRunning, type UpgradeProtocol } from './call.ts';
import type { CallerPolicy, GatewayCaller } from './caller.ts';
import { KnownGroups } from './known-groups.ts';
import type { GatewayMetrics, Refusal } from './metrics.ts';
import * as refusals from './refusals.ts';
import { copiedHeaders } from './request-headers.ts';

export interface GatewayOptions {
  /** Whether calls that lead through the cluster to servers that are not its own are passed on. */
  readonly allowProxySubresources: boolean;
  /** What becomes of a call with `Impersonate` headers: a 403, or one of the user it names, if the caller may impersonate that user. */
  readonly impersonation: 'refuse' | 'honour';
  /** What becomes of a caller in a group that the cluster does not let us act in: a 403, or a call without that group. */
  readonly unknownGroups: 'refuse' | 'drop';
}

export interface GatewayParts {
  readonly passage: Passage;
  readonly policy: CallerPolicy;
  readonly metrics: GatewayMetrics;
  readonly clock: Clock;
  /** Called once for each group that is left out of calls. */
  onLeftOut(group: string): void;
  /** Reports a caller who would have been one of the cluster's own. */
  onReserved(call: GatewayCall): void;
}

/** One call, as it came. */
export interface GatewayCall {
  /** The user who has signed in. */
  readonly caller: GatewayCaller;
  /** The user whom the caller asks to impersonate and may impersonate; the call is then made as this user. */
  readonly actingAs?: GatewayCaller | undefined;
  readonly kind: CallKind;
  /** Whether it leads through the cluster to another server (`isProxied`). */
  readonly isProxied: boolean;
  readonly method: string;
  /** Path and query, as sent. The path has been checked, and can be read in one way only. */
  readonly target: string;
  /** Names and values in turn, as sent. */
  readonly rawHeaders: readonly string[];
  /** The whole address of the client. */
  readonly address: string;
  readonly requestId: string;
  /** Ours, which no caller can choose: the cluster's audit log has it. */
  readonly auditId: string;
  /** Called before anything is sent on; not called for a call that is refused. */
  onSend?(): void;
  readonly body?: PassedBody | undefined;
}

export interface UpgradeCall extends GatewayCall {
  readonly protocol: UpgradeProtocol;
  /** The subprotocols that a websocket client offers, without its bearer. */
  readonly subprotocols: readonly string[];
}

/** Passes calls on to the cluster as their callers, and never as anybody else. */
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

  /** Whether the caller may ask to be somebody else. */
  get honoursImpersonation(): boolean {
    return this.#options.impersonation === 'honour';
  }

  get metrics(): GatewayMetrics {
    return this.#parts.metrics;
  }

  /**
   * Sends the call on and its answer back as it comes. Rejects with a `StatusError` when nothing was sent or no answer
   * came, and with another error when the answer broke off after it had begun.
   */
  async forward(call: GatewayCall, answer: PassedAnswer, signal: AbortSignal): Promise<void> {
    this.#admit(call);
    const caller = await this.#madeAs(call, signal);
    const passed = this.#prepare(call, caller, []);
    call.onSend?.();
    await this.#parts.passage.send(passed, answer, signal).catch((error) => this.#fail(error, call));
  }

  /**
   * Asks the cluster to turn the connection into another protocol. Resolves with its end of the connection, or with nothing
   * when the cluster has answered something else. Rejects as `forward` does.
   */
  async upgrade(call: UpgradeCall, answer: PassedAnswer, signal: AbortSignal): Promise<Upgraded | undefined> {
    const { passage } = this.#parts;
    const more = ['Upgrade', call.protocol === 'websocket' ? 'websocket' : 'SPDY/3.1'];
    if (call.protocol === 'websocket') more.push('Origin', passage.origin);
    if (call.subprotocols.length > 0) more.push('Sec-WebSocket-Protocol', call.subprotocols.join(', '));
    this.#admit(call);
    const caller = await this.#madeAs(call, signal);
    const passed = this.#prepare(call, caller, more);
    call.onSend?.();
    return passage.upgrade(passed, answer, signal).catch((error) => this.#fail(error, call));
  }

  /**
   * Throws the refusal of somebody whom nobody impersonates here, whatever the cluster would say. A caller may ask for
   * anybody; that is no sign of a reserved name among the users, and no event.
   */
  admitTarget(asked: Pick<GatewayCaller, 'name' | 'groups'>): void {
    const { policy, metrics } = this.#parts;
    if (!policy.isReserved(asked)) return;
    metrics.refused('impersonate_header');
    throw refusals.reservedTarget();
  }

  /** Throws the refusal of a call that is not sent on. */
  #admit(call: GatewayCall): void {
    const { policy, metrics, onReserved } = this.#parts;
    const { caller, rawHeaders } = call;
    if (policy.isReserved(caller)) {
      metrics.refused('reserved_identity');
      onReserved(call);
      throw refusals.reservedIdentity();
    }
    if (call.actingAs) this.admitTarget(call.actingAs);
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

  /** Whom the call is made as. Only groups of the caller's own are left out: what is asked for by name is refused by name. */
  async #madeAs(call: GatewayCall, signal: AbortSignal): Promise<GatewayCaller> {
    return this.#groups && !call.actingAs ? this.#known(call, signal) : madeAs(call);
  }

  /** The caller without the groups that the cluster does not let us act in. */
  async #known(call: GatewayCall, signal: AbortSignal): Promise<GatewayCaller> {
    const known = (this.#groups as KnownGroups).of(madeAs(call));
    return unlessAborted(known, signal).catch((error) =>
      this.#fail(signal.aborted ? new PassageError('left', error) : error, call),
    );
  }

  /** A call that everybody may make: so a refusal of it is about our acting as the caller. */
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

  /** What is sent on. Throws the refusal of a call that cannot be. */
  #prepare(call: GatewayCall, caller: GatewayCaller, more: readonly string[]): PassedCall {
    const { policy, metrics } = this.#parts;
    const { kind, method, target, rawHeaders, address, auditId, body } = call;
    const copied = copiedHeaders(rawHeaders, { isUpgrade: more.length > 0 });
    if ('badHeader' in copied) {
      metrics.refused('header');
      throw badRequest(`the request is malformed: its header ${copied.badHeader} has a control character`);
    }
    const own = ['X-Forwarded-For', address, 'Audit-ID', auditId];
    const headers = [...copied, ...more, ...own, ...policy.headersOf(caller)];
    policy.assertOf(headers, caller);
    return { method, target, headers, body, isLongRunning: isLongRunning(kind) };
  }

  #fail(error: unknown, call: GatewayCall): never {
    const { target } = call;
    const caller = madeAs(call);
    if (!(error instanceof PassageError)) throw error;
    const isSpoken = error.fault === 'impersonation' && speaksOfImpersonation(target);
    const reason = error.fault === 'impersonation' ? notActingAs(call) : error.fault;
    if (reason !== 'left' && !isSpoken) this.#parts.metrics.refused(reason);
    if (error.fault !== 'impersonation') throw ANSWERS[error.fault](error);
    this.#groups?.forget(caller);
    throw refusals.notLentToUs(ownOf(error.refused, caller), error);
  }
}

/** The user that the cluster sees. */
const madeAs = ({ caller, actingAs = caller }: GatewayCall): GatewayCaller => actingAs;

/** How a call is counted that we may not make as its caller. There is an alert for that, but not for a wish of the caller's. */
const notActingAs = ({ actingAs }: GatewayCall): Refusal => (actingAs ? 'impersonate_header' : 'impersonation');

/** What was refused, if it is the caller's own: others are nobody's business. */
function ownOf(refused: RefusedImpersonation | undefined, { name, groups }: GatewayCaller): RefusedImpersonation {
  if (refused?.name === undefined) return {};
  const isOwn = refused.resource === 'users' ? refused.name === name : groups.includes(refused.name);
  return isOwn ? refused : {};
}

/**
 * Whether a 403 may have its words about an impersonation from the caller: the cluster repeats resource and name of a path.
 * The answer is the same then, but our operator gets no alert.
 */
const speaksOfImpersonation = (target: string): boolean =>
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
