import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from '../support/at-end.ts';
import { waitFor } from '../support/waiting.ts';
import type { Told } from './stand.ts';

/** What a client is asked to do, in the order in which it is asked. */
export const STEPS = ['sign-in', 'verify', 'list', 'watch', 'refresh'] as const;
export type Step = (typeof STEPS)[number];

/** A client that nobody here wrote, and the program that uses it. README.md has what the program reads and prints. */
export interface Client {
  /** Its name in the table. */
  readonly name: string;
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What it can do. */
  readonly steps: readonly Step[];
}

/** A line that a program prints. */
export interface Line {
  readonly step: Step;
  /** Absent in what a watch saw. */
  readonly ok?: boolean;
  readonly error?: string;
  /** The access token that it has now. */
  readonly token?: string;
  /** `sub` of a verified token. */
  readonly subject?: string;
  /** The names of the nodes that it has listed. */
  readonly nodes?: readonly string[];
  /** What a watch saw: ADDED, MODIFIED, DELETED, or RESET. */
  readonly type?: string;
  readonly node?: string;
}

/** The variables by which Node, Go, OpenSSL and Python's requests trust a certificate. */
const trusting = (ca: string) => ({ NODE_EXTRA_CA_CERTS: ca, SSL_CERT_FILE: ca, REQUESTS_CA_BUNDLE: ca });

/** Nothing here takes more than some seconds, even on a machine that is busy. */
const LIMIT_MS = 120_000;

/** A client program that runs. It ends after the test at the latest. */
export class ClientProgram {
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #lines: Line[] = [];
  readonly #ended: Promise<number | null>;
  #said = '';
  #hasEnded = false;

  constructor({ name, command: [program = '', ...args], env = {} }: Client, told: Told) {
    this.#name = name;
    this.#child = spawn(program, args, {
      env: { ...process.env, ...trusting(told.ca), ...env, CLIENT: JSON.stringify(told) },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.stdin?.on('error', () => {});
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text;
    });
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#read(line));
    this.#ended = new Promise((resolve) => {
      const end = (code: number | null): void => {
        this.#hasEnded = true;
        resolve(code);
      };
      this.#child.once('error', (error) => {
        this.#said += error.message;
        end(null);
      });
      this.#child.once('close', end);
    });
    atEnd(async () => {
      this.#child.kill('SIGKILL');
      await this.#ended;
    });
  }

  /** What its watch saw so far. */
  get watched(): readonly Line[] {
    return this.#lines.filter(({ ok, type }) => ok === undefined && type !== undefined);
  }

  /** Asks for a step and answers the line that it prints then. `more`: what the step is to be done with. */
  async ask(step: Step, more: object = {}): Promise<Line> {
    const before = this.#answers(step).length;
    this.#tell(step, more);
    const [line] = await this.until(
      () => this.#answers(step).slice(before),
      (answers) => answers.length > 0,
    );
    return line!;
  }

  /** Begins the watch, which prints a line for each event. */
  watch = (): void => this.#tell('watch');

  /** Waits for a fact of what it prints. Rejects at once when it has ended, or when the watch failed. */
  until<T>(read: () => T, isSo: (value: T) => boolean): Promise<T> {
    const lost = (): string | undefined => {
      const failed = this.#answers('watch').find(({ ok }) => ok === false);
      if (failed) return `its watch failed: ${failed.error}`;
      return this.#hasEnded ? `it has ended, having said ${this.#said}` : undefined;
    };
    const saw = () => [this.#name, this.#said.slice(-1_000)];
    return waitFor(read, isSo, { turn: () => sleep(20), limitMs: LIMIT_MS, lost, saw });
  }

  /** Ends its standard input, upon which it ends. Answers its exit code. */
  async end(): Promise<number | null> {
    this.#child.stdin?.end();
    await waitFor(
      () => this.#hasEnded,
      (hasEnded) => hasEnded,
      { turn: () => sleep(20), limitMs: LIMIT_MS, saw: () => this.#name },
    );
    return this.#ended;
  }

  #answers = (step: Step): Line[] => this.#lines.filter((line) => line.step === step && line.ok !== undefined);

  #tell(step: Step, more: object = {}): void {
    this.#child.stdin?.write(`${JSON.stringify({ step, ...more })}\n`);
  }

  #read(text: string): void {
    if (text.startsWith('{"step"')) this.#lines.push(JSON.parse(text) as Line);
    else this.#said += `${text}\n`;
  }
}
