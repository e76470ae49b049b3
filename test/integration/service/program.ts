import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { atEnd } from '../../support/at-end.ts';
import { COMPILE_CACHE } from '../../support/compile-cache.ts';
import { type GatehouseOptions, writeConfig } from '../../support/gatehouse.ts';
import { eventually, Service, usersFile } from './stand.ts';

const PROJECT = join(import.meta.dirname, '..', '..', '..');

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface ProgramOptions {
  /** Text on standard input; default: none. */
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The module that is run, by its path, which may begin in the project's folder. Default: the main program. */
  readonly module?: string;
}

/** The main program in a process of its own, with nothing of this one's environment. */
export class Program {
  readonly #child: ChildProcess;
  readonly #output = { stdout: '', stderr: '' };
  #hasEnded = false;
  readonly ended: Promise<Ended>;

  constructor(args: readonly string[], { stdin = '', env = {}, module = 'src/main.ts' }: ProgramOptions = {}) {
    this.#child = spawn(process.execPath, [resolve(PROJECT, module), ...args], {
      env: { ...COMPILE_CACHE, ...env },
      stdio: 'pipe',
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#output.stdout += text;
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#output.stderr += text;
    });
    this.#child.stdin?.on('error', () => {}).end(stdin); // one that does not read closes it early
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code) => {
        this.#hasEnded = true;
        resolve({ code, ...this.#output });
      });
    });
    atEnd(async () => {
      this.#child.kill('SIGKILL');
      await this.ended;
    });
  }

  get output(): string {
    return this.#output.stdout + this.#output.stderr;
  }

  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(name);
  }

  /** Its clients' view, once it is ready; in either form of the log. */
  async service(): Promise<Service> {
    const line = await this.#line((text) => /\bready\b.*tookMs|tookMs.*"ready"/.test(text));
    const [port, metricsPort] = ['port', 'metricsPort'].map((name) =>
      Number(new RegExp(`\\b${name}"?[=:](\\d+)`).exec(line)?.[1]),
    );
    if (!port || !metricsPort) throw new Error(`the program did not say where it listens: ${this.output}`);
    const nothing = { log: [], writeUsers: () => {}, stop: async () => {} };
    return new Service({ ...nothing, port, metricsPort, origin: `http://127.0.0.1:${port}` });
  }

  /** The JSON log line with this message, as soon as it is there. */
  async logged(message: string): Promise<Readonly<Record<string, unknown>>> {
    return JSON.parse(await this.#line((text) => text.includes(`"msg":"${message}"`))) as Record<string, unknown>;
  }

  /** The first line of this kind that it writes to standard output. */
  async #line(isSo: (text: string) => boolean): Promise<string> {
    const find = () => this.#output.stdout.split('\n').find(isSo);
    const lost = () => (this.#hasEnded ? `the program has ended, having said ${this.output}` : undefined);
    return (await eventually(find, (line) => line !== undefined, undefined, lost)) ?? '';
  }
}

/** A checkout need not have a built page. */
const WITHOUT_PAGE = { page: { enabled: false } };

/** The program in front of this cluster, as `startService` would start it but without the page; not ready yet. */
export async function startProgram(
  cluster: Pick<SimulatedCluster, 'kubeconfig'>,
  { env = {}, config: settings }: Pick<GatehouseOptions, 'config'> & Pick<ProgramOptions, 'env'> = {},
): Promise<Program> {
  const folder = newFolder();
  const whole = { ...WITHOUT_PAGE, ...settings };
  const config = writeConfig(folder, { config: whole, kubeconfig: cluster.kubeconfig(), users: await usersFile() });
  return new Program(['--config', config], { env });
}

/** Runs the program to its end. */
export const runProgram = (args: readonly string[], options?: ProgramOptions): Promise<Ended> =>
  new Program(args, options).ended;

/** Writes these files into a folder of their own and answers their paths. */
export function writeFiles<Name extends string>(files: Readonly<Record<Name, string>>): Readonly<Record<Name, string>> {
  const folder = newFolder();
  const paths = Object.entries<string>(files).map(([name, content]) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return [name, path];
  });
  return Object.fromEntries(paths) as Record<Name, string>;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-program-'));
  atEnd(async () => rmSync(folder, { recursive: true }));
  return folder;
}
