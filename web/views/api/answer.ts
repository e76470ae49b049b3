import { send } from '../../api/call.ts';
import type { requestOf } from './request.ts';

/** How much of a body is shown. More would make the browser slow, and nobody reads it. */
export const LONGEST_SHOWN = 256 * 1024;

/** What came back so far. */
export interface Answer {
  /** 0: no answer came. */
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** From the request to the end of what was read, in milliseconds. */
  readonly tookMs: number;
  readonly text: string;
  /** Whether more came than is shown. */
  readonly isCut: boolean;
  readonly isDone: boolean;
}

/** Sends a request with the session of this browser, and tells what comes as it comes: an answer may have no end. Never rejects. */
export async function tryOut(
  { method, address, headers, contentType, body }: ReturnType<typeof requestOf>,
  signal: AbortSignal,
  onAnswer: (answer: Answer) => void,
): Promise<void> {
  const began = performance.now();
  let seen: Answer = { status: 0, headers: [], tookMs: 0, text: '', isCut: false, isDone: false };
  const tell = (news: Partial<Answer>): void => {
    seen = { ...seen, ...news, tookMs: performance.now() - began };
    onAnswer(seen);
  };
  try {
    const options = { method, headers, signal, ...(body === undefined ? {} : { body }) };
    const answer = await send(address, contentType === undefined ? options : { ...options, contentType });
    tell({ status: answer.status, headers: [...answer.headers] });
    for await (const text of textOf(answer)) {
      const all = seen.text + text;
      if (all.length > LONGEST_SHOWN) return tell({ text: all.slice(0, LONGEST_SHOWN), isCut: true, isDone: true });
      tell({ text: all });
    }
    tell({ isDone: true });
  } catch (error) {
    tell({ isDone: true, ...(seen.status === 0 && !signal.aborted ? { text: String(error) } : {}) });
  }
}

async function* textOf({ body }: Response): AsyncGenerator<string> {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The body with each member of its JSON on a line; as it is, if it is no JSON or not whole. */
export function readable({ text, isCut, isDone }: Pick<Answer, 'text' | 'isCut' | 'isDone'>): string {
  if (isCut || !isDone) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
