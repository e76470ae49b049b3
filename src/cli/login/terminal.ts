import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Clock } from '../../runtime/clock.ts';
import { LoginError } from './login-error.ts';

/** Other processes wait for the session meanwhile, so a question does not stay open for ever. */
const LONGEST_ANSWER_MS = 120_000;

/** The terminal on which a person can be asked. */
export interface Terminal {
  readonly isThere: boolean;
  /** Resolves to the line that is typed. Throws a `LoginError` at Ctrl-C, Ctrl-D, or after two minutes. */
  ask(question: string, options: { readonly isShown: boolean }): Promise<string>;
}

interface TerminalParts {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Where questions go: standard output belongs to the program that runs us. */
  readonly output: NodeJS.WritableStream;
  readonly clock: Clock;
}

/** The terminal of the process. Answers with `isShown: false` are read without echo. */
export function createTerminal({ input, output, clock }: TerminalParts): Terminal {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  return {
    isThere: input.isTTY === true,
    ask: (question, { isShown }) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      // With `terminal`, readline does the echo and not the system: only what readline writes is shown.
      const lines = createInterface({ input, output: isShown ? output : nowhere, terminal: true, historySize: 0 });
      if (!isShown) output.write(question);
      const stop = clock.after(LONGEST_ANSWER_MS, () => {
        reject(new LoginError('nobody has answered for two minutes'));
        lines.close();
      });
      lines.once('close', () => reject(new LoginError('interrupted: nobody was signed in')));
      lines.once('SIGINT', () => lines.close());
      lines.question(isShown ? question : '', resolve);
      const isLineOpen = promise.then(
        () => !isShown,
        () => true,
      );
      return promise.finally(async () => {
        stop();
        lines.close();
        if (await isLineOpen) output.write('\n');
      });
    },
  };
}
