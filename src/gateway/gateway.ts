import type { Passage } from '../kubernetes/passage/passage.ts';
import {
  PassageError,
  type PassageFault,
  type PassedAnswer,
  type PassedBody,
  type PassedCall,
} from '../kubernetes/passage/passed-call.ts';
import type { Upgraded } from '../kubernetes/passage/upgrade.ts';
import { badRequest, type StatusError } from '../status-error.ts';
import { type CallKind, isLongRunning, type UpgradeProtocol } from './call.ts';
import type { CallerPolicy, GatewayCaller } from './caller.ts';
import type { GatewayMetrics } from './metrics.ts';
import * as refusals from './refusals.ts';
import { asksToImpersonate, copiedHeaders } from './request-headers.ts';

export interface GatewayOptions {
  /** Whether the proxy subresources of nodes, pods and services are passed on. */
  readonly allowProxySubresources: boolean;
  /** Whether a request with `Impersonate` headers is refused. Otherwise they are dropped. */
  readonly rejectImpersonation: boolean;
}

export interface GatewayParts {
  readonly passage: Passage;
  readonly policy: CallerPolicy;
  readonly metrics: GatewayMetrics;
  /** Reports a caller who would have been one of the cluster's own. */
  onReserved(call: GatewayCall): void;
}

/** One call, as it came. */
export interface GatewayCall {
  readonly caller: GatewayCaller;
  readonly kind: CallKind;
  readonly method: string;
  /** Path and query, as sent. The path has been checked, and can be read in one way only. */
  readonly target: string;
  /** Names and values in turn, as sent. */
  readonly rawHeaders: readonly string[];
  /** The whole address of the client. */
  readonly address: string;
  readonly requestId: string;
  readonly body?: PassedBody | undefined;
}

export interface UpgradeCall extends GatewayCall {
  readonly protocol: UpgradeProtocol;
  /** Of a websocket: what the client offers, without its bearer. */
  readonly subprotocols: readonly string[];
}

/** Passes calls on to the cluster as their callers, and never as anybody else. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #parts: GatewayParts;

  constructor(options: GatewayOptions, parts: GatewayParts) {
    this.#options = options;
    this.#parts = parts;
  }

  get metrics(): GatewayMetrics {
    return this.#parts.metrics;
  }

  /**
   * Sends the call on and its answer back as it comes. Rejects with a `StatusError` when nothing was sent or no answer
   * came, and with another error when the answer broke off after it had begun.
   */
  async forward(call: GatewayCall, answer: PassedAnswer, signal: AbortSignal): Promise<void> {
    const passed = this.#prepare(call, []);
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
    return passage.upgrade(this.#prepare(call, more), answer, signal).catch((error) => this.#fail(error, call));
  }

  /** What is sent on. Throws the refusal of a call that is not. */
  #prepare(call: GatewayCall, more: readonly string[]): PassedCall {
    const { policy, metrics, onReserved } = this.#parts;
    const { caller, kind, method, target, rawHeaders, address, requestId, body } = call;
    if (policy.isReserved(caller)) {
      metrics.refused('reserved_identity');
      onReserved(call);
      throw refusals.reservedIdentity();
    }
    if (this.#options.rejectImpersonation && asksToImpersonate(rawHeaders)) {
      metrics.refused('impersonate_header');
      throw refusals.impersonationRefused();
    }
    if (kind === 'proxy' && !this.#options.allowProxySubresources) {
      metrics.refused('proxy_subresource');
      throw refusals.proxyRefused();
    }
    const copied = copiedHeaders(rawHeaders, { isUpgrade: more.length > 0 });
    if ('badHeader' in copied) {
      metrics.refused('header');
      throw badRequest(`the request is malformed: its header ${copied.badHeader} has a control character`);
    }
    const own = ['X-Forwarded-For', address, 'Audit-ID', requestId];
    const headers = [...copied, ...more, ...own, ...policy.headersOf(caller)];
    policy.assertOf(headers, caller);
    return { method, target, headers, body, isLongRunning: isLongRunning(kind) };
  }

  #fail(error: unknown, { target }: GatewayCall): never {
    if (!(error instanceof PassageError)) throw error;
    const isSpoken = error.fault === 'impersonation' && speaksOfImpersonation(target);
    if (error.fault !== 'left' && !isSpoken) this.#parts.metrics.refused(error.fault);
    throw ANSWERS[error.fault](error);
  }
}

/**
 * Whether a 403 may have its words about an impersonation from the caller: the cluster repeats resource and name of a path.
 * He gets the same 502 then, but our operator no alert.
 */
const speaksOfImpersonation = (target: string): boolean =>
  target
    .replaceAll(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    .includes('impersonate');

const ANSWERS: Readonly<Record<PassageFault, (error: PassageError) => StatusError>> = {
  unreachable: refusals.badGateway,
  credential: refusals.badGateway,
  impersonation: refusals.badGateway,
  timeout: refusals.timedOut,
  away: refusals.away,
  full: refusals.away,
  left: refusals.badGateway,
};
