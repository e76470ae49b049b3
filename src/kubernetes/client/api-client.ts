import { unlessAborted } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type ResponseSink, sendRequest } from '../../runtime/send-request.ts';
import type { LastingRefusal } from '../../status-error.ts';
import type { ImpersonationHeaders } from '../access/cluster-access.ts';
import type { Credential } from '../access/credentials.ts';
import type { RequestMetrics } from '../metrics.ts';
import { parseObjects } from '../object-text.ts';
import { isOfImpersonation, lastingRefusalOf, retryAfterMs, type Status, toCauses, toStatus } from '../status.ts';
import type { ConnectionPool, Lane } from './connection-pool.ts';

/** The purpose of a request: the `purpose` label of `gatehouse_cluster_requests_total`. */
type Purpose =
  | 'list'
  | 'watch'
  | 'review'
  | 'token_review'
  | 'secrets'
  | 'objects'
  | 'objects_as_caller' // impersonates a caller: a refusal by the cluster is not a fault of ours
  | 'objects_dry_run' // by our own account: the cluster is expected to refuse it
  | 'objects_of_kinds'
  | 'version'
  | 'keys'
  | 'discovery';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query string. */
  readonly path: string;
  readonly purpose: Purpose;
  /** Sent as JSON; with PATCH as a merge patch (RFC 7386). */
  readonly body?: unknown;
  /** The user that this request impersonates, instead of the configured one. */
  readonly impersonation?: ImpersonationHeaders;
  /** Default: `application/json`. */
  readonly accept?: string;
  /** The ETag of the known answer: while that has not changed, the answer is a 304 without a body. */
  readonly ifNoneMatch?: string | undefined;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed body; `undefined` when it is not JSON. */
  readonly body: unknown;
  /** The length of the body. */
  readonly bytes: number;
}

/** Provides the credential to send. Both methods may take time; concurrent callers share one result. */
interface Credentials {
  current(): Promise<Credential>;
  /** Called after a 401. */
  renew(): Promise<Credential>;
}

export interface ApiClientParts {
  readonly server: string;
  readonly userAgent: string;
  /** Headers of every request that does not impersonate another user. */
  readonly impersonation?: ImpersonationHeaders | undefined;
  readonly credentials: Credentials;
  readonly pool: ConnectionPool;
  readonly metrics: RequestMetrics;
  readonly clock: Clock;
}

/**
 * A Secret, a review or a version is one object, and etcd accepts none above 1.5 MiB (its `--max-request-bytes`). An
 * error is a Status of a few hundred bytes.
 */
const ONE_OBJECT_BYTES = 2 * 1024 * 1024;
/**
 * A page has at most 500 objects, and about 1 MiB if they are as large as those of the previous page (`paged-list.ts`). If
 * they are larger, this limit leaves 262 KiB for each of 500. 500 objects at etcd's limit would take 750 MiB, more than the
 * process may use; no collection that we read comes near that.
 */
const PAGE_BYTES = 128 * 1024 * 1024;
/** Aggregated discovery has 300 to 600 bytes for a resource, so this is enough for 25,000 resources. Large clusters have 2,000. */
const DISCOVERY_BYTES = 16 * 1024 * 1024;

/** The longest body of an answer. A watch has no limit on its total size; its lines have a limit of their own. */
const LONGEST_BODY: Readonly<Record<Purpose, number>> = {
  list: PAGE_BYTES,
  watch: Number.POSITIVE_INFINITY,
  review: ONE_OBJECT_BYTES,
  token_review: ONE_OBJECT_BYTES,
  secrets: ONE_OBJECT_BYTES,
  objects: PAGE_BYTES,
  objects_as_caller: PAGE_BYTES,
  objects_dry_run: PAGE_BYTES,
  objects_of_kinds: PAGE_BYTES,
  version: ONE_OBJECT_BYTES,
  keys: ONE_OBJECT_BYTES,
  discovery: DISCOVERY_BYTES,
};

/** Sends requests to the API server with the current credential. It sets no time limits. */
export class ApiClient {
  readonly #parts: ApiClientParts;
  readonly #origin: string;
  readonly #prefix: string;

  constructor(parts: ApiClientParts) {
    this.#parts = parts;
    const server = new URL(parts.server);
    this.#origin = server.origin;
    this.#prefix = server.pathname.replace(/\/$/, '');
  }

  /**
   * Resolves to the complete answer, with any status. Rejects if there is no answer or it is too long. Calls `progress` whenever
   * bytes arrive.
   */
  async json(request: ApiRequest, signal: AbortSignal, progress: () => void = () => undefined): Promise<ApiResponse> {
    const chunks: Buffer[] = [];
    let status = 0;
    let headers: ApiResponse['headers'] = {};
    const sink: ResponseSink = {
      start(code, received) {
        progress();
        status = code;
        headers = received;
      },
      data(chunk) {
        progress();
        chunks.push(chunk);
        return undefined;
      },
    };
    await this.stream(request, sink, signal);
    const bytes = Buffer.concat(chunks);
    return { status, headers, body: parseBody(request, bytes), bytes: bytes.length };
  }

  /**
   * Sends the request and passes the answer to `sink` while it arrives. After a 401, or when the server's certificate is not
   * trusted, the credential is read again. If it has changed, the request is sent once more at once (C-27, C-31), and the sink
   * gets only the last answer.
   */
  async stream(request: ApiRequest, sink: ResponseSink, signal: AbortSignal): Promise<void> {
    const { credentials } = this.#parts;
    const credential = await unlessAborted(credentials.current(), signal);
    const held = new HeldRefusal(sink);
    const untrusted = await this.#attempt(request, { sink: held, signal }, credential).catch(rethrowUnlessUntrusted);
    if (!untrusted && !held.isHeld) return;
    const renewed = await unlessAborted(credentials.renew(), signal);
    if (!isSame(renewed, credential)) await this.#attempt(request, { sink, signal }, renewed);
    else if (untrusted) throw untrusted;
    else held.release();
  }

  async #attempt(
    request: ApiRequest,
    { sink, signal }: { readonly sink: ResponseSink; readonly signal: AbortSignal },
    credential: Credential,
  ): Promise<void> {
    const { metrics, clock, pool } = this.#parts;
    const lane: Lane = request.purpose === 'watch' ? 'watches' : 'requests';
    const began = clock.monotonic();
    let answered = false;
    const counted: ResponseSink = {
      start(status, headers) {
        answered = true;
        metrics.answered(request.purpose, status, (clock.monotonic() - began) / 1000);
        sink.start(status, headers);
      },
      data: (chunk) => sink.data(chunk),
    };
    const maxBytes = (status: number): number => (status > 299 ? ONE_OBJECT_BYTES : LONGEST_BODY[request.purpose]);
    try {
      const dispatcher = pool.dispatcher(lane, credential.tls);
      await sendRequest(dispatcher, this.#options(request, credential), { sink: counted, signal, maxBytes });
    } catch (error) {
      if (!answered && !signal.aborted) metrics.failed(request.purpose);
      throw error;
    }
  }

  #options(request: ApiRequest, credential: Credential) {
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    return {
      origin: this.#origin,
      path: this.#prefix + request.path,
      method: request.method,
      body: body ?? null,
      headers: {
        accept: request.accept ?? 'application/json',
        'user-agent': this.#parts.userAgent,
        ...(body === undefined ? {} : { 'content-type': contentType(request) }),
        ...(request.ifNoneMatch === undefined ? {} : { 'if-none-match': request.ifNoneMatch }),
        ...(credential.authorization ? { authorization: credential.authorization } : {}),
        ...(request.impersonation ?? this.#parts.impersonation),
      },
    };
  }
}

const contentType = ({ method }: ApiRequest): string =>
  method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';

/**
 * OpenSSL's codes for a server certificate that no CA of ours has signed
 * (https://nodejs.org/api/tls.html#x509-certificate-error-codes). TLS failed, so nothing of the request was sent.
 */
const UNTRUSTED: ReadonlySet<unknown> = new Set([
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

function rethrowUnlessUntrusted(error: NodeJS.ErrnoException): Error {
  if (UNTRUSTED.has(error.code)) return error;
  throw error;
}

const isSame = (a: Credential, b: Credential): boolean => a.authorization === b.authorization && a.tls === b.tls;

/** Parses the body. Only lists lose their `managedFields`: a single object may be written back, and so stays as it was read. */
function parseBody({ purpose }: ApiRequest, body: Buffer): unknown {
  const parse = purpose === 'list' ? parseObjects : JSON.parse;
  try {
    return parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Passes an answer on while it arrives, but holds a 401 back until it is clear whether the request is sent again. */
class HeldRefusal implements ResponseSink {
  readonly #sink: ResponseSink;
  readonly #chunks: Buffer[] = [];
  #headers: Parameters<ResponseSink['start']>[1] | undefined;

  constructor(sink: ResponseSink) {
    this.#sink = sink;
  }

  get isHeld(): boolean {
    return this.#headers !== undefined;
  }

  start(status: number, headers: Parameters<ResponseSink['start']>[1]): void {
    if (status === 401) this.#headers = headers;
    else this.#sink.start(status, headers);
  }

  data(chunk: Buffer): Promise<void> | undefined {
    if (!this.#headers) return this.#sink.data(chunk);
    this.#chunks.push(chunk);
    return undefined;
  }

  /** Passes the 401 on, because the request is not sent again. */
  release(): void {
    if (!this.#headers) return;
    this.#sink.start(401, this.#headers);
    for (const chunk of this.#chunks) void this.#sink.data(chunk);
  }
}

/**
 * The API server has answered with an error. The message of this error is only for the log: our callers get errors of our own.
 */
export class ClusterError extends Error implements LastingRefusal {
  /** Its code, reason and message may be passed on to the caller whom the request impersonated. */
  readonly status: Status;
  /** With a 422: each faulty field, and what is wrong with it. */
  readonly causes: ReturnType<typeof toCauses>;
  /** Whether the cluster refuses our impersonation. If so, it has not checked the rights of the impersonated user. */
  readonly isOfImpersonation: boolean;
  /** How long the API server asks us to wait, with 429 and 503 (RFC 9110 10.2.3); 0 if it does not say. */
  readonly retryAfterMs: number;
  /** What in the cluster refuses the request, and will until somebody changes it (`lastingRefusalOf`). */
  readonly lastingRefusal: string | undefined;

  constructor(what: string, response: ApiResponse) {
    const status = toStatus(response.body, response.status);
    super(`${what} was answered ${`${status.code} ${status.reason}: ${status.message}`.slice(0, 500)}`);
    this.name = 'ClusterError';
    this.status = status;
    this.causes = toCauses(response.body);
    this.isOfImpersonation = isOfImpersonation(status);
    this.lastingRefusal = lastingRefusalOf(status);
    const isNotNow = response.status === 429 || response.status === 503;
    this.retryAfterMs = isNotNow ? retryAfterMs(status, response.headers['retry-after']?.toString()) : 0;
  }
}

/** Whether the error is a 409: the object has changed, is another one or, on a create, exists already. */
export const isConflict = (error: unknown): boolean => error instanceof ClusterError && error.status.code === 409;

/** The conflict of a create: there is an object of this name. */
export const isAlreadyExists = (error: unknown): boolean =>
  error instanceof ClusterError && error.status.reason === 'AlreadyExists';
