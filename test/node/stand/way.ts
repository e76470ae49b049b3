import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { clusterTool } from '../../support/cluster-tools.ts';
import { writeKubeconfig } from '../../support/control-plane/clients.ts';
import { POD_NETWORK, SERVICE_NETWORK } from '../kubernetes/place.ts';

/** What a command said, and how it ended. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  /** What has come so far. */
  readonly said: { stdout: string; stderr: string };
  /** Resolves when it has ended. */
  readonly ended: Promise<Outcome>;
}

export interface RunOptions {
  readonly input?: string | Buffer;
  readonly env?: NodeJS.ProcessEnv;
}

interface WayParts {
  /** Of both ways of a person, so that columns of names are equally wide: all have one length. */
  readonly namespace: string;
  readonly server: string;
  readonly caFile: string;
  /** The name in the server's certificate, if it is not that of the address. */
  readonly serverName?: string;
  readonly token: string;
  /** Whom the cluster's administrator acts as. */
  readonly as?: { readonly user: string; readonly groups: readonly string[] };
  /** For what kubectl and helm keep. */
  readonly home: string;
  /** Of the kubeconfig; unique in `home`. */
  readonly name: string;
}

/** For `kubectl wait`, which gives up after half a minute otherwise. */
export const PATIENTLY = '--timeout=2m';

/** A person at a shell with kubectl and helm, whose kubeconfig leads to the cluster in one way or another. */
export class Way {
  readonly namespace: string;
  readonly #server: string;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(
    { namespace, server, home }: Pick<WayParts, 'namespace' | 'server' | 'home'>,
    kubeconfig: string,
  ) {
    this.namespace = namespace;
    this.#server = server;
    this.#env = { PATH: process.env['PATH'], HOME: home, KUBECONFIG: kubeconfig };
  }

  static async open(parts: WayParts): Promise<Way> {
    const { home, name, server: url, caFile, token, serverName, as, namespace } = parts;
    const user = as && { as: as.user, 'as-groups': as.groups };
    const cluster = serverName ? { 'tls-server-name': serverName } : {};
    const more = { user, cluster, context: { namespace } };
    return new Way(parts, await writeKubeconfig(home, name, { url, caFile, token }, more));
  }

  /** With a kubeconfig that exists. */
  static with(kubeconfig: string, parts: Pick<WayParts, 'namespace' | 'server' | 'home'>): Way {
    return new Way(parts, kubeconfig);
  }

  async kubectl(args: readonly string[], options?: RunOptions): Promise<Outcome> {
    return (await this.start('kubectl', args, options)).ended;
  }

  /** The standard output of a command that must not fail. */
  async told(args: readonly string[], options?: RunOptions): Promise<string> {
    const { code, stdout, stderr } = await this.kubectl(args, options);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  }

  /** Resolves when the pod is ready. */
  async untilReady(pod: string): Promise<void> {
    await this.told(['wait', '--for=condition=Ready', `pod/${pod}`, PATIENTLY]);
  }

  async helm(args: readonly string[]): Promise<Outcome> {
    return (await this.start('helm', args)).ended;
  }

  async start(
    tool: 'kubectl' | 'helm',
    args: readonly string[],
    { input = '', env = {} }: RunOptions = {},
  ): Promise<Running> {
    const own = args.map((arg) => arg.replaceAll('NAMESPACE', this.namespace));
    const running = run(await clusterTool(tool), own, { ...this.#env, ...env });
    running.child.stdin?.end(input);
    return running;
  }

  /** Runs this line of a shell on a terminal, with `kubectl` on its path. Its input stays open. */
  async onTerminal(line: string, env: NodeJS.ProcessEnv = {}): Promise<Running> {
    const path = `${join(await clusterTool('kubectl'), '..')}:${process.env['PATH']}`;
    return run('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
      ...this.#env,
      ...env,
      PATH: path,
      SHELL: '/bin/sh',
    });
  }

  /** The outcome without what differs from one run to the next: names of the place, ids, versions, times and addresses. */
  comparable({ code, stdout, stderr }: Outcome): Outcome {
    return { code, stdout: this.#withoutPlace(stdout), stderr: this.#withoutPlace(stderr) };
  }

  #withoutPlace(text: string): string {
    const here = text.replaceAll(this.namespace, 'NAMESPACE').replaceAll(this.#server, 'SERVER');
    return DIFFERING.reduce((left, [pattern, word]) => left.replace(pattern, word), here);
  }
}

const inNetwork = (network: string, prefix: number): RegExp => {
  const fixed = network.split('.').slice(0, prefix).join('\\.');
  return new RegExp(`\\b${fixed}(?:\\.\\d+){${4 - prefix}}\\b`, 'g');
};

/**
 * helm ends its own watch when it has seen enough. If the reader of its watch sees that before the code that ended it, client-go prints this
 * warning: it depends on the client's threads only, and comes at the API server itself too.
 */
const ENDED_BY_CLIENT =
  /^I\d{4} .* reflector\.go:\d+\] "Warning: watch ended with error" .*unable to decode an event from the watch stream: context canceled.*\n/gm;

const DIFFERING: readonly (readonly [RegExp, string])[] = [
  [ENDED_BY_CLIENT, ''],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'UID'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\b/g, 'TIME'],
  [/\b[A-Z][a-z]{2},? +\d\d? [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}\b/g, 'TIME'],
  [/\b[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}\b/g, 'TIME'],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \+0000(?: UTC)?(?: m=\S+)?/g, 'TIME'],
  [/(resourceVersion"?: ?)"\d+"/g, '$1VERSION'],
  [/\b(?:\d+[dhms])+\b/g, 'AGE'],
  [/\b[0-9a-f]{64}\b/g, 'CONTAINER'],
  [inNetwork(POD_NETWORK, 3), 'POD_ADDRESS'],
  [inNetwork(SERVICE_NETWORK, 2), 'SERVICE_ADDRESS'],
  [/\b([a-z]+-[0-9a-f]{8,10})-[0-9a-z]{5}\b/g, '$1-POD'],
  [/\/tmp\/(LIVE|MERGED)-\d+/g, '/tmp/$1'],
  [/ {2,}/g, '  '], // columns are as wide as what was replaced
];

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Running {
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const said = { stdout: '', stderr: '' };
  child.stdout.setEncoding('latin1').on('data', (text) => (said.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (said.stderr += text));
  child.stdin.on('error', () => undefined); // a tool that does not read it closes it early
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...said }));
  });
  return { child, said, ended };
}
