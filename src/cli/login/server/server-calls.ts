import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { getCACertificates } from 'node:tls';
import { type Clock, withTimeLimit } from '../../../runtime/clock.ts';
import { environmentProxy } from '../../../runtime/text/proxy-variables.ts';
import { LoginError, NoAnswerError, systemReason } from '../login-error.ts';

/** A sign-in waits at most 2 s in the server's queue of password hashing, so a server that takes this long does not answer at all. */
const CALL_LIMIT_MS = 15_000;
/** More than any answer: a token response has two tokens of about 2 KiB each, a Status is smaller. */
const LARGEST_ANSWER_BYTES = 65_536;
/** A longer `Retry-After` is not waited for. The server's queue of password hashing asks for 1 s. */
const LONGEST_PAUSE_SECONDS = 5;
const MOST_ATTEMPTS = 3;

export interface ServerCall {
  readonly path: string;
  readonly form?: Readonly<Record<string, string>>;
  readonly bearer?: string;
}

export interface ServerAnswer {
  readonly status: number;
  /** The body if it is a JSON object. For any other body, an object without the members of an answer. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;
  /** Where a redirect leads. It is not followed. */
  readonly location?: string;
}

export interface ServerParts {
  readonly clock: Clock;
  /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** CA certificates (PEM) that replace those of the system. */
  readonly authority: string | undefined;
}

/** Calls one server. A call throws a `LoginError` when it gets no answer. */
export class ServerCalls {
  readonly #server: string;
  readonly #parts: ServerParts;

  constructor(server: string, parts: ServerParts) {
    this.#server = server;
    this.#parts = parts;
  }

  /** Repeats the call when the answer is 429 or 503 with a `Retry-After` of a few seconds. */
  async call(call: ServerCall): Promise<ServerAnswer> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#once(call);
      const { status, retryAfterSeconds: pause = Number.POSITIVE_INFINITY } = answer;
      const isBusy = status === 429 || status === 503;
      if (!isBusy || pause > LONGEST_PAUSE_SECONDS || attempt === MOST_ATTEMPTS) return answer;
      await this.#parts.clock.sleep(pause * 1000);
    }
  }

  async #once(call: ServerCall): Promise<ServerAnswer> {
    const limits = { ms: CALL_LIMIT_MS, signals: [] };
    return withTimeLimit(this.#parts.clock, limits, async (signal) => {
      try {
        return await this.#exchange(call, signal);
      } catch (error) {
        if (error instanceof LoginError) throw error;
        throw new NoAnswerError(
          whyUnanswered(this.#server, signal.aborted ? 'TIME' : (error as NodeJS.ErrnoException)),
        );
      }
    });
  }

  async #exchange({ path, form, bearer }: ServerCall, signal: AbortSignal): Promise<ServerAnswer> {
    const isTls = this.#server.startsWith('https:');
    const body = form && new URLSearchParams(form).toString();
    const headers = {
      accept: 'application/json',
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(body) }),
    };
    const options = { method: body === undefined ? 'GET' : 'POST', headers, signal, agent: this.#agent(isTls) };
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const request = (isTls ? httpsRequest : httpRequest)(this.#server + path, options, resolve);
    request.on('error', reject).end(body);
    return toAnswer(this.#server, await promise);
  }

  /** Picks the proxy that client-go would use; Node has other rules. */
  #agent(isTls: boolean): HttpAgent {
    const { authority, environment } = this.#parts;
    const proxy = proxyOf(environment, this.#server);
    const proxyEnv = proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } };
    if (!isTls) return new HttpAgent(proxyEnv);
    const ca = authority ?? [...getCACertificates('default'), ...getCACertificates('system')];
    // Without `rejectUnauthorized`, NODE_TLS_REJECT_UNAUTHORIZED=0 would turn the check off (K-07, docs/promises.md).
    return new HttpsAgent({ ca, rejectUnauthorized: true, ...proxyEnv });
  }
}

function proxyOf(environment: ServerParts['environment'], server: string): string | undefined {
  try {
    return environmentProxy(environment, new URL(server), ['http', 'https'])?.href;
  } catch (error) {
    throw new LoginError(`the environment ${(error as Error).message}`);
  }
}

async function toAnswer(server: string, message: IncomingMessage): Promise<ServerAnswer> {
  const { statusCode: status = 0, headers } = message;
  let bytes = 0;
  message.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LARGEST_ANSWER_BYTES)
      message.destroy(new LoginError(`${server} sends an answer that is too large: is it Gatehouse?`));
  });
  const body = toObject(await text(message));
  const { location, 'retry-after': pause } = headers;
  return { status, body, retryAfterSeconds: wholeSeconds(pause), ...(location === undefined ? {} : { location }) };
}

/** Reads a `Retry-After` in seconds (RFC 9110 10.2.3). A date, which Gatehouse never sends, counts as absent, like any other text. */
const wholeSeconds = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined;

function toObject(json: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(json));
  } catch {
    return {};
  }
}

const TRUST = 'is not trusted: name its authority with --certificate-authority FILE';
const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: TRUST,
  SELF_SIGNED_CERT_IN_CHAIN: TRUST,
  UNABLE_TO_GET_ISSUER_CERT: TRUST,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: TRUST,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: TRUST,
  CERT_SIGNATURE_FAILURE: TRUST,
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name',
};

/** One sentence that names the address and says what is wrong. */
function whyUnanswered(server: string, failure: NodeJS.ErrnoException | 'TIME'): string {
  if (failure === 'TIME') return `${server} does not answer within ${CALL_LIMIT_MS / 1000} s`;
  const code = failure.code ?? '';
  const certificate = CERTIFICATE_FAULTS[code];
  if (certificate !== undefined) return `the certificate of ${server} ${certificate}`;
  if (code === 'ECONNREFUSED') return `nothing answers at ${server}: the connection is refused`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the name in ${server} cannot be resolved`;
  if (/^ERR_SSL_|^EPROTO$/.test(code)) return `${server} does not speak TLS as it should: is the address right?`;
  if (code.startsWith('HPE_')) return `${server} does not speak HTTP: is the address right?`;
  if (code === 'ECONNRESET') return `the connection to ${server} broke`;
  return `cannot reach ${server}: ${systemReason(failure)}`;
}
