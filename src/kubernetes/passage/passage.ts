import { unlessAborted } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Credential } from '../access/credentials.ts';
import type { ConnectionPool } from '../client/connection-pool.ts';
import type { RequestMetrics } from '../metrics.ts';
import { HeldAnswer } from './held-answer.ts';
import { passOn } from './pass-on.ts';
import { PassageError, type PassedAnswer, type PassedCall } from './passed-call.ts';
import { Reachability } from './reachability.ts';
import { requestUpgrade, type Upgraded } from './upgrade.ts';

/**
 * The most calls in flight, however large `limits.maxGatewayRequests` is; its default is the same number. By default the API
 * server handles 600 requests at once, of all its clients (`--max-requests-inflight`, `--max-mutating-requests-inflight`).
 */
const MOST_CONNECTIONS = 512;

interface Credentials {
  /** The current credential; `undefined` if it must be read again first. */
  readonly fresh: Credential | undefined;
  current(): Promise<Credential>;
  /** Called after a 401. */
  renew(): Promise<Credential>;
}

export interface PassageParts {
  readonly server: string;
  readonly credentials: Credentials;
  /** A pool of its own, so that these calls never wait behind ours, nor ours behind them. */
  readonly pool: ConnectionPool;
  readonly metrics: RequestMetrics;
  readonly clock: Clock;
}

/** Passes the calls of users on to the API server, over connections of its own and with our credential. */
export class Passage {
  readonly #parts: PassageParts;
  readonly #server: URL;
  readonly #prefix: string;
  readonly #reachability: Reachability;
  #underway = 0;

  constructor(parts: PassageParts) {
    this.#parts = parts;
    this.#server = new URL(parts.server);
    this.#prefix = this.#server.pathname.replace(/\/$/, '');
    this.#reachability = new Reachability(parts.clock);
  }

  /** The `Origin` to send with a websocket: the API server refuses a watch without it. */
  get origin(): string {
    return this.#server.origin;
  }

  /**
   * Sends the call and passes its answer on as it comes. Rejects with a `PassageError` if there is no answer that may be
   * passed on, or if the answer breaks off. Repeats a call without a body once if our credential has changed, and a GET or
   * HEAD once if the server had closed the connection.
   */
  async send(call: PassedCall, answer: PassedAnswer, signal: AbortSignal): Promise<void> {
    if (!call.isLongRunning && this.#underway >= MOST_CONNECTIONS) throw new PassageError('full');
    if (!this.#reachability.admits()) throw new PassageError('away');
    if (!call.isLongRunning) this.#underway += 1;
    try {
      await this.#asOurselves(signal, !call.body, (credential) => this.#attempt(call, answer, { signal, credential }));
    } finally {
      if (!call.isLongRunning) this.#underway -= 1;
    }
  }

  /**
   * Asks the server to upgrade the connection to another protocol. Resolves with the connection if it agrees, and with
   * `undefined` if it answers something else, which `answer` receives. Rejects with a `PassageError`.
   */
  async upgrade(call: PassedCall, answer: PassedAnswer, signal: AbortSignal): Promise<Upgraded | undefined> {
    if (!this.#reachability.admits()) throw new PassageError('away');
    return this.#asOurselves(signal, true, (credential) => this.#upgrade(call, answer, { signal, credential }));
  }

  /**
   * Sends with our credential, and once more with a renewed one if the server does not accept the first. `isRepeatable`: the
   * call may be sent a second time.
   */
  async #asOurselves<Outcome>(
    signal: AbortSignal,
    isRepeatable: boolean,
    send: (credential: Credential) => Promise<Outcome | 'credential'>,
  ): Promise<Outcome> {
    const { credentials } = this.#parts;
    // Almost always the credential is at hand: waiting for it would cost each call a fiftieth of its time.
    const credential = credentials.fresh ?? (await this.#credential(credentials.current(), signal));
    const first = await send(credential);
    if (first !== 'credential') return first;
    const renewed = await this.#credential(credentials.renew(), signal);
    if (!isRepeatable || renewed.authorization === credential.authorization) throw new PassageError('credential');
    const second = await send(renewed);
    if (second === 'credential') throw new PassageError('credential');
    return second;
  }

  async #credential(wanted: Promise<Credential>, signal: AbortSignal): Promise<Credential> {
    try {
      return await unlessAborted(wanted, signal);
    } catch (error) {
      throw new PassageError(signal.aborted ? 'left' : 'credential', error);
    }
  }

  async #attempt(call: PassedCall, answer: PassedAnswer, sending: Sending): Promise<'passed' | 'credential'> {
    const sentAt = this.#parts.clock.monotonic();
    const held = new HeldAnswer(answer, this.#counted(call.purpose));
    const isRepeatable = (call.method === 'GET' || call.method === 'HEAD') && !call.body;
    const mayRepeat = (error: unknown): boolean =>
      isRepeatable && !held.hasBegun && isClosedConnection(error) && !sending.signal.aborted;
    try {
      await this.#passOn(call, held, sending).catch((error) => {
        if (!mayRepeat(error)) throw error;
        return this.#passOn(call, held, sending);
      });
    } catch (error) {
      // If the client's body broke off, the client has gone. That says nothing about the server.
      if (call.body?.stream.errored) throw new PassageError('left', error);
      throw this.#failureOf(error, held, { signal: sending.signal, sentAt, purpose: call.purpose });
    }
    return concluded(held);
  }

  async #upgrade(
    call: PassedCall,
    answer: PassedAnswer,
    { signal, credential }: Sending,
  ): Promise<Upgraded | 'credential' | undefined> {
    const { pool, clock } = this.#parts;
    const sentAt = clock.monotonic();
    const counted = this.#counted();
    const held = new HeldAnswer(answer, counted);
    try {
      const connecting = pool.connect(this.#server, credential.tls);
      connecting.then(
        (late) => signal.aborted && late.destroy(),
        () => undefined,
      );
      const socket = await unlessAborted(connecting, signal);
      const request = { ...call, target: this.#prefix + call.target, headers: headersOf(call, credential) };
      const attempt = { socket, host: this.#server.host, request };
      const upgraded = await requestUpgrade(attempt, held, { clock, signal });
      if (upgraded) counted(101);
      if (upgraded) return upgraded;
    } catch (error) {
      throw this.#failureOf(error, held, { signal, sentAt });
    }
    return concluded(held) === 'credential' ? 'credential' : undefined;
  }

  #passOn(call: PassedCall, held: HeldAnswer, { signal, credential }: Sending): Promise<void> {
    const { pool, clock } = this.#parts;
    const { method, body, isLongRunning } = call;
    const dispatcher = pool.dispatcher(isLongRunning ? 'watches' : 'requests', credential.tls);
    const framing = body?.length === undefined ? [] : ['Content-Length', String(body.length)];
    const options = {
      origin: this.#server.origin,
      path: this.#prefix + call.target,
      method: method as 'GET',
      body: body?.stream ?? null,
      headers: headersOf(call, credential).concat(framing),
    };
    return passOn({ dispatcher, options, body, isLongRunning }, held, { clock, signal });
  }

  /** Returns a function that counts the answer to a call that begins now. */
  #counted(purpose = 'gateway'): (status: number) => void {
    const { metrics, clock } = this.#parts;
    const sentAt = clock.monotonic();
    return (status) => {
      this.#reachability.answered();
      metrics.answered(purpose, status, (clock.monotonic() - sentAt) / 1_000);
    };
  }

  #failureOf(
    error: unknown,
    { hasBegun }: HeldAnswer,
    { signal, sentAt, purpose = 'gateway' }: { signal: AbortSignal; sentAt: number; purpose?: string | undefined },
  ): PassageError {
    if (signal.aborted) return new PassageError('left', error);
    if (!hasBegun) {
      // If the server closes the connection or its answer cannot be parsed, the call itself may be the reason. One caller must
      // not be able to make us treat the server as away for all others.
      if (!isClosedConnection(error) && !isUnreadable(error)) this.#reachability.failed(sentAt);
      this.#parts.metrics.failed(purpose);
    }
    if (error instanceof PassageError) return error;
    return new PassageError(isTimeout(error) ? 'timeout' : 'unreachable', error);
  }
}

const headersOf = ({ headers }: PassedCall, { authorization }: Credential): readonly string[] =>
  authorization === undefined ? headers : ['Authorization', authorization].concat(headers);

interface Sending {
  readonly signal: AbortSignal;
  readonly credential: Credential;
}

/**
 * Called when an answer has ended. Throws if the API server refused to let our account impersonate the caller. Returns
 * `credential` if the server did not accept our credential.
 */
function concluded(held: HeldAnswer): 'passed' | 'credential' {
  held.end();
  if (held.fault === 'impersonation') throw new PassageError('impersonation', undefined, held.refused);
  return held.fault ?? 'passed';
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

/** The connection was closed or reset by the server, perhaps because it had been idle for too long. */
const CLOSED: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
const isClosedConnection = (error: unknown): boolean => CLOSED.has(codeOf(error));

const TIMEOUTS: ReadonlySet<unknown> = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);
const isTimeout = (error: unknown): boolean => TIMEOUTS.has(codeOf(error));

/**
 * Whether an answer came that cannot be parsed. A user can cause that by a backend behind the API server. Some parser
 * errors of undici have no code.
 */
const isUnreadable = (error: unknown): boolean =>
  (error as Error | null)?.name === 'HTTPParserError' ||
  /^(UND_ERR_HEADERS_OVERFLOW$|HPE_)/.test(String(codeOf(error)));
