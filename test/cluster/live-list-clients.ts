import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { clusterTool } from '../support/cluster-tools.ts';

export const CLIENTS = ['reflector', 'informer'] as const;
/** `cache` is the one of controller-runtime. */
export type ClientName = (typeof CLIENTS)[number] | 'cache';

/** What client-go did, as `tools/live-list/main.go` and `tools/controller-cache/main.go` tell it. */
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

interface Followed {
  readonly urls: readonly string[];
  readonly path: string;
  readonly token: string;
}

interface Options extends Followed {
  /** Default: nodes. `custom`: any kind, without a list. */
  readonly kind?: 'nodes' | 'pods' | 'custom';
  /** Whether they list first, page by page. Default: their watch begins with the list. */
  readonly lists?: boolean;
}

interface CacheOptions extends Followed {
  /** `Kind.version.group`; default: pods. */
  readonly kind?: string;
}

/** Clients of a list in a process of their own. */
export class LiveListClients {
  readonly said: Said[] = [];
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(program: string, args: readonly string[], environment: Readonly<Record<string, string>>) {
    this.#process = spawn(program, args, {
      env: { ...process.env, ...environment },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: this.#process.stdout as NodeJS.ReadableStream });
    lines.on('line', (line) => this.said.push(JSON.parse(line) as Said));
    this.#ended = Promise.all([once(lines, 'close'), once(this.#process, 'exit')]);
  }

  /** A reflector and an informer of client-go. */
  static async start({ urls, path, token, kind = 'nodes', lists = false }: Options): Promise<LiveListClients> {
    const args = [`-urls=${urls.join()}`, `-path=${path}`, `-kind=${kind}`, `-lists=${lists}`];
    const environment = { TOKEN: token, KUBE_FEATURE_WatchListClient: String(!lists) };
    return new LiveListClients(await clusterTool('liveList'), args, environment);
  }

  /** The cache of controller-runtime. */
  static async startCache({ urls, path, token, kind = '' }: CacheOptions): Promise<LiveListClients> {
    const args = [`-urls=${urls.join()}`, `-path=${path}`, `-kind=${kind}`];
    return new LiveListClients(await clusterTool('controllerCache'), args, { TOKEN: token });
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
