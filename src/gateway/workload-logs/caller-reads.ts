import type { PassedAnswer } from '../../kubernetes/passage/passed-call.ts';
import { StatusError } from '../../status-error.ts';
import type { Gateway, GatewayCall } from '../gateway.ts';
import { badGateway } from '../refusals.ts';
import { asRecord, asText } from './json-members.ts';
import { type LogOut, toLine } from './records.ts';

/** The longest object or page of a list: a page has at most 500 pods of some 10 kB. */
const LONGEST_BODY = 32 * 1024 * 1024;
/** The longest error of the cluster that is passed on. */
const LONGEST_ERROR = 64 * 1024;

/** An answer of the cluster that is not a 200. */
export interface RefusedRead {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** The message of the cluster in a refusal, or its status if it has none. */
export function messageOf({ status, body }: RefusedRead): string {
  try {
    return asText(asRecord(JSON.parse(body.toString()))['message']) || `the cluster answers ${status}`;
  } catch {
    return `the cluster answers ${status}`;
  }
}

/** Receives an answer that is a 200. */
export interface ReadInto {
  start?(): void;
  /** Nothing more is read until a returned promise has resolved. */
  readonly data: PassedAnswer['data'];
}

interface CallerReadsParts {
  readonly gateway: Pick<Gateway, 'forward'>;
  /** The call whose answer is the stream. Each read is one of the same caller. */
  readonly call: GatewayCall;
  /** Called with whether the cluster has answered, for each read that was not ended by us. */
  onAnswered(hasAnswered: boolean): void;
}

/** Reads the cluster as the caller, so that the cluster judges each read. All calls pass every check of the gateway. */
export class CallerReads {
  readonly #parts: CallerReadsParts;

  constructor(parts: CallerReadsParts) {
    this.#parts = parts;
  }

  /** Reads a JSON document. Rejects as `Gateway.forward` does, and with a 502 for an answer that cannot be read. */
  async document(target: string, signal: AbortSignal): Promise<{ readonly value: unknown } | RefusedRead> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const tooLong = new AbortController();
    const data = (chunk: Buffer): undefined => {
      bytes += chunk.length;
      if (bytes > LONGEST_BODY) tooLong.abort();
      else chunks.push(chunk);
    };
    const read = this.#read('object', target, { data }, AbortSignal.any([signal, tooLong.signal]));
    const refused = await read.catch((error) => {
      throw tooLong.signal.aborted ? badGateway(new Error('an answer of the cluster is too long')) : error;
    });
    if (refused) return refused;
    try {
      return { value: JSON.parse(Buffer.concat(chunks).toString()) };
    } catch (error) {
      throw badGateway(error);
    }
  }

  /** Reads a watch or a log. Resolves at its end, to the refusal if it was refused. Rejects as `Gateway.forward` does. */
  stream(kind: 'watch' | 'log', target: string, into: ReadInto, signal: AbortSignal): Promise<RefusedRead | undefined> {
    return this.#read(kind, target, into, signal);
  }

  async #read(
    kind: 'object' | 'watch' | 'log',
    target: string,
    into: ReadInto,
    signal: AbortSignal,
  ): Promise<RefusedRead | undefined> {
    const { gateway, call, onAnswered } = this.#parts;
    let refused: { status: number; headers: readonly string[]; chunks: Buffer[]; bytes: number } | undefined;
    const answer: PassedAnswer = {
      start: (status, headers) => {
        onAnswered(true);
        if (status === 200) into.start?.();
        else refused = { status, headers, chunks: [], bytes: 0 };
      },
      data: (chunk) => {
        if (!refused) return into.data(chunk);
        refused.bytes += chunk.length;
        if (refused.bytes <= LONGEST_ERROR) refused.chunks.push(chunk);
        return undefined;
      },
    };
    const { onSend: _, body: __, ...rest } = call;
    const own = {
      ...rest,
      kind,
      target,
      rawHeaders: [...userAgentOf(call), 'Accept', kind === 'log' ? '*/*' : 'application/json'],
    };
    try {
      await gateway.forward(own, answer, signal);
    } catch (error) {
      if (!signal.aborted && isFailure(error)) onAnswered(false);
      throw error;
    }
    return refused && { status: refused.status, headers: refused.headers, body: Buffer.concat(refused.chunks) };
  }
}

/** Whether the error says that the cluster does not answer, and not that it refuses the call. */
export const isFailure = (error: unknown): boolean => !(error instanceof StatusError) || error.answer.code >= 500;

/** The client's own `User-Agent`, which is in the cluster's audit log. */
function userAgentOf({ rawHeaders }: GatewayCall): readonly string[] {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'user-agent');
  return at < 0 ? [] : rawHeaders.slice(at, at + 2);
}

/** Tells the reader of a stream when the cluster does not answer, and when it does again. */
export class ClusterAnswers {
  #out: LogOut | undefined;
  #isAway = false;

  /** To be called when the stream has begun. */
  begin(out: LogOut): void {
    this.#out = out;
  }

  answered(hasAnswered: boolean): void {
    if (this.#isAway !== hasAnswered) return;
    this.#isAway = !hasAnswered;
    const [event, message] = hasAnswered
      ? (['back', 'the cluster answers again'] as const)
      : (['away', 'the cluster does not answer: it is asked again, and no line is lost'] as const);
    void this.#out?.write(toLine({ type: 'cluster', event, message }));
  }
}
