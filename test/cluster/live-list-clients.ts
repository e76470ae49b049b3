import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { clusterTool } from '../support/cluster-tools.ts';

export const CLIENTS = ['reflector', 'informer'] as const;
export type ClientName = (typeof CLIENTS)[number];

/** What client-go did, as `tools/live-list/main.go` tells it. */
export interface Said {
  readonly who: ClientName;
  readonly what: 'watch' | 'refused' | 'list' | 'replace' | 'add' | 'update' | 'delete' | 'held' | 'end';
  readonly name?: string;
  readonly version?: string;
  readonly step?: string;
  readonly cpu?: string;
  readonly was?: string;
  readonly whole?: boolean;
}

interface Options {
  readonly urls: readonly string[];
  readonly path: string;
  readonly token: string;
  /** Default: nodes. */
  readonly kind?: 'nodes' | 'pods';
  /** Whether they list first, page by page. Default: their watch begins with the list. */
  readonly lists?: boolean;
}

/** A reflector and an informer of client-go in a process of their own. */
export class LiveListClients {
  readonly said: Said[] = [];
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(program: string, { urls, path, token, kind = 'nodes', lists = false }: Options) {
    this.#process = spawn(program, [`-urls=${urls.join()}`, `-path=${path}`, `-kind=${kind}`, `-lists=${lists}`], {
      env: { ...process.env, TOKEN: token, KUBE_FEATURE_WatchListClient: String(!lists) },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: this.#process.stdout as NodeJS.ReadableStream });
    lines.on('line', (line) => this.said.push(JSON.parse(line) as Said));
    this.#ended = Promise.all([once(lines, 'close'), once(this.#process, 'exit')]);
  }

  static async start(options: Options): Promise<LiveListClients> {
    return new LiveListClients(await clusterTool('liveList'), options);
  }

  of(who: ClientName, ...what: readonly Said['what'][]): Said[] {
    return this.said.filter((one) => one.who === who && what.includes(one.what));
  }

  /** Ends it, and resolves when it has reported what it holds. */
  async end(): Promise<void> {
    this.#process.stdin?.end();
    await this.#ended;
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }
}
