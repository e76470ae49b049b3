import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseCommand } from '../../../src/cli/arguments.ts';
import { runClientCommand } from '../../../src/cli/login/client-command.ts';
import type { AskingParts, ClientParts } from '../../../src/cli/login/client-parts.ts';
import type { SavedSession } from '../../../src/cli/login/session.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Person, passwordOf, type Service } from '../service/stand.ts';

const GROUP = 'client.authentication.k8s.io';
/** What kubectl tells a plug-in when it has no terminal. */
export const execInfo = (version = 'v1', interactive = false): string =>
  JSON.stringify({ kind: 'ExecCredential', apiVersion: `${GROUP}/${version}`, spec: { interactive } });

interface Run {
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** What is typed at the terminal; without, there is none. */
  readonly typed?: readonly string[];
  /** What the person's browser does with an address; without, there is no browser. */
  readonly browse?: (address: string) => Promise<unknown>;
  /** Sees each line for the person as soon as it is written. */
  readonly told?: (line: string) => void;
  /** Replaces each wait. */
  readonly sleep?: () => Promise<void>;
  /** Ctrl-C. */
  readonly interrupted?: AbortSignal;
}

interface Done {
  readonly printed: readonly string[];
  readonly said: readonly string[];
}

/** One person's machine: its home, its clock, its terminal. */
export class Machine {
  readonly #server: string;
  readonly #files = temporaryFolder();
  /** How far its clock is ahead of the server's, in milliseconds. */
  aheadMs = 0;
  /** How many runs have loaded what asks a server or a person. */
  loads = 0;

  constructor(server: string) {
    this.#server = server;
  }

  get home(): string {
    return this.#files.folder;
  }

  passwordFile = (password: string): string => this.#files.write('password', `${password}\n`);

  /** The one session that is kept. */
  session(): SavedSession {
    const folder = join(this.home, '.local', 'state', 'gatehouse');
    const [file = 'none', ...more] = readdirSync(folder);
    if (more.length > 0) throw new Error(`more than one file: ${more.join(' ')}`);
    return JSON.parse(readFileSync(join(folder, file), 'utf8')) as SavedSession;
  }

  /** Runs a command against the server, in this process. Rejects as the command does. */
  async run(
    action: 'login' | 'logout',
    { args = [], environment = {}, typed, browse, told, sleep, interrupted }: Run = {},
  ): Promise<Done> {
    const command = parseCommand([action, '--server', this.#server, ...args], undefined);
    if (command.kind !== 'client') throw new Error(JSON.stringify(command));
    const printed: string[] = [];
    const said: string[] = [];
    const answers = [...(typed ?? [])];
    const asking: AskingParts = {
      random: systemRandom,
      processId: process.pid,
      hostName: 'machine',
      isRunning: () => true,
      browser: {
        isThere: browse !== undefined,
        open: (address, failed) => void browse?.(address).catch((error: Error) => failed(error.message)),
      },
      onInterrupt: (act) => {
        if (interrupted?.aborted) act();
        interrupted?.addEventListener('abort', act);
        return () => interrupted?.removeEventListener('abort', act);
      },
      terminal: { isThere: typed !== undefined, ask: async () => answers.shift() ?? '' },
      readInput: async () => Buffer.from(''),
    };
    const parts: ClientParts = {
      clock: { ...systemClock, now: () => Date.now() + this.aheadMs, ...(sleep ? { sleep } : {}) },
      environment,
      homeFolder: this.home,
      userId: process.getuid?.(),
      isInPath: () => true,
      readFile: (path) => readFileSync(path),
      print: (line) => printed.push(line),
      complain: (line) => {
        said.push(line);
        told?.(line);
      },
      loadMore: async () => {
        this.loads++;
        return asking;
      },
    };
    await runClientCommand(command.request, parts);
    return { printed, said };
  }

  /** As kubectl runs it, for Ada; the token. */
  async token(run: Run = {}): Promise<string> {
    const environment = { KUBERNETES_EXEC_INFO: execInfo() };
    const { printed } = await this.run('login', {
      environment,
      ...run,
      args: ['--username', 'ada', ...(run.args ?? [])],
    });
    return JSON.parse(printed[0] ?? '').status.token;
  }

  signIn = (person: Person = 'ada'): Promise<Done> =>
    this.run('login', { args: ['--username', person, '--password-file', this.passwordFile(passwordOf(person))] });
}

/** How many requests the server has answered under this path. */
export const requestsTo = (service: Service, path: string): number =>
  service.logged('request').filter((line) => line['path'] === path).length;
