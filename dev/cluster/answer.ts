import type { Entry } from './entry.ts';
import type { Form } from './form.ts';

/** A complete answer; `text` is its body. */
export interface Answer {
  readonly code: number;
  readonly text: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A real server ends its JSON documents with a newline. */
export const json = (body: object, code = 200): Answer => ({ code, text: `${JSON.stringify(body)}\n` });

export const objectAnswer = (form: Form, entry: Entry, code = 200): Answer => ({
  code,
  text: `${form.object(entry)}\n`,
});

export const plain = (text: string, code = 200): Answer => ({ code, text, contentType: 'text/plain; charset=utf-8' });
