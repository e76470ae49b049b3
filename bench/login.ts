import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { clusterTool } from '../test/support/cluster-tools.ts';
import { writeKubeconfig } from '../test/support/control-plane/clients.ts';
import { selfSigned } from '../test/support/self-signed.ts';
import { startTlsFront } from '../test/support/tls-front.ts';
import type { Bench } from './bench.ts';
import { makeNodes, startReal, withNodes } from './peers/clusters.ts';
import { BENCH_USERS, startGatehouse } from './peers/gatehouse.ts';
import { makeLoginPrograms } from './peers/login-programs.ts';
import { median, ratios } from './statistics.ts';
import { number, table, verdict } from './table.ts';

/** kubectl directly and through Gatehouse, and its credential plug-in by itself. */
export interface LoginResults {
  /** What each call took, by its name. The calls of a round come one after the other. */
  readonly calls: Readonly<Record<string, readonly Spent[]>>;
  /** The load average at the start and at the end. */
  readonly load: readonly [number, number];
}

const CALLS = 20;
const NODES = 10;
const USER = BENCH_USERS[0] ?? '';

/** Targets: a call of the plug-in with a session that stands, and kubectl with it compared with kubectl alone. */
const MOST_PLUG_IN_MS = 60;
const MOST_KUBECTL = 1.7;

const BARE = 'Node that runs nothing';
const DIRECT = 'kubectl, directly';
const STATIC = 'kubectl, through Gatehouse with a static token';
const PLUG_IN = 'the plug-in alone';
const ASKING = 'the plug-in that asks the server';
const KUBECTL = 'kubectl, through Gatehouse with the plug-in';
const FORMS = { package: 'npm package', single: 'with Node inside' } as const;

interface Spent {
  readonly ms: number;
  /** Processor time in milliseconds, of the programs that it starts as well. NaN where the system does not tell. */
  readonly processorMs: number;
}

/** One program with its arguments. */
type Call = readonly [string, ...string[]];

export async function measureLogin(bench: Bench): Promise<LoginResults> {
  const { children, note, withoutReal } = bench;
  if (withoutReal !== undefined) throw new Error(`kubectl is measured with a real kube-apiserver: ${withoutReal}`);
  note('making the program for laptops');
  const programs = await makeLoginPrograms(children.folder);
  note('starting the real kube-apiserver');
  const control = await startReal();
  const cluster = await withNodes(control, makeNodes(NODES), 0);
  const gatehouse = await startGatehouse(children, {
    ...cluster,
    name: 'login',
    settings: { gateway: { enabled: true } },
  });
  const certificate = selfSigned('localhost');
  const front = await startTlsFront(gatehouse.target.port, certificate);
  const machine = await prepareMachine(children.folder, certificate.cert, gatehouse.password);
  const get = (kubeconfig: string): Call => [machine.kubectl, '--kubeconfig', kubeconfig, 'get', 'nodes'];
  const token = gatehouse.target.headers['authorization']?.replace('Bearer ', '') ?? '';
  const fixed = { url: front.url, caFile: machine.caFile, token };
  const calls: Record<string, Call> = {
    [BARE]: [process.execPath, '--eval', '0'],
    [DIRECT]: get(await control.kubeconfigFile()),
    [STATIC]: get(await writeKubeconfig(children.folder, 'static', fixed)),
  };
  const login = ['login', '--server', front.url, '--username', USER, '--certificate-authority', machine.caFile];
  for (const [form, name] of Object.entries(FORMS)) {
    const program = programs[form as keyof typeof FORMS];
    if (program === undefined) continue;
    calls[`${PLUG_IN}, ${name}`] = [program, ...login, '--print', 'credential'];
    calls[`${ASKING}, ${name}`] = [program, ...login, '--password-file', machine.passwordFile];
    calls[`${KUBECTL}, ${name}`] = get(await machine.kubeconfig(program, login.slice(1)));
  }
  const signIn: Call = [programs.package, ...login, '--password-file', machine.passwordFile];
  const results = await measureAll(bench, machine, calls, () => machine.timed(signIn));
  await front.stop();
  await gatehouse.stop();
  await control.stop();
  return results;
}

/** Measures the calls in turn, so that other work of the machine affects all of them alike. The first round is a warm-up. */
async function measureAll(
  { note }: Bench,
  machine: Machine,
  calls: Readonly<Record<string, Call>>,
  signIn: () => Promise<unknown>,
): Promise<LoginResults> {
  const spent: Record<string, Spent[]> = Object.fromEntries(Object.keys(calls).map((name) => [name, []]));
  const before = loadavg()[0] ?? 0;
  for (let round = 0; round <= CALLS; round++) {
    await signIn(); // asks the server, so that the plug-in need not ask it in this round
    for (const [name, call] of Object.entries(calls)) {
      const one = await machine.timed(call);
      if (round > 0) spent[name]?.push(one);
    }
    if (round % 5 === 0) note(`round ${round} of ${CALLS}`);
  }
  return { calls: spent, load: [before, loadavg()[0] ?? 0] };
}

/** The home of a person with kubectl. */
interface Machine {
  readonly kubectl: string;
  readonly caFile: string;
  readonly passwordFile: string;
  /** Runs the program to its end. Rejects when it fails. */
  timed(call: Call): Promise<Spent>;
  /** Lets the program print a kubeconfig that runs it. Resolves to the path of the file. */
  kubeconfig(program: string, options: readonly string[]): Promise<string>;
}

async function prepareMachine(folder: string, certificate: string, password: string): Promise<Machine> {
  const home = join(folder, 'home');
  await mkdir(home);
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(home, name), text, { mode: 0o600 });
    return join(home, name);
  };
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter); // the package runs with this Node
  const env = { HOME: home, PATH: path, KUBECACHEDIR: join(home, 'cache') };
  const run = ([program, ...args]: Call) => runToEnd(program, args, env);
  const timed = async (call: Call): Promise<Spent> => {
    const before = processorMsOfEnded();
    const startAt = performance.now();
    await run(call);
    return { ms: performance.now() - startAt, processorMs: processorMsOfEnded() - before };
  };
  const kubeconfig = async (program: string, options: readonly string[]): Promise<string> => {
    const text = await run([program, 'kubeconfig', ...options, '--command', program]);
    return file(`kubeconfig-${basename(dirname(program))}`, text);
  };
  return {
    kubectl: await clusterTool('kubectl'),
    caFile: await file('ca.pem', certificate),
    passwordFile: await file('password', password),
    timed,
    kubeconfig,
  };
}

/** The places of user and system time of ended children in /proc/self/stat, behind the name of the program (proc(5)). */
const ENDED = [13, 14] as const;
/** The unit of these times, which is the same on every Linux with glibc. */
const TICK_MS = 10;

/** The processor time of all children of this process that have ended. A tick is coarse for one call, and exact for the sum of many. */
function processorMsOfEnded(): number {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return ENDED.reduce((sum, at) => sum + Number(fields[at]) * TICK_MS, 0);
  } catch {
    return Number.NaN;
  }
}

/** Resolves to what the program has written on its standard output. */
async function runToEnd(program: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (texts.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (texts.stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${[program, ...args].join(' ')} ended with ${code}: ${texts.stderr}`);
  return texts.stdout;
}

/** The results as text. */
export function printLogin({ calls, load }: LoginResults): string {
  const timesOf = (all: readonly Spent[] = []): number[] => all.map(({ ms }) => ms);
  const rows = Object.entries(calls).map(([name, all]) => {
    const middle = median(timesOf(all));
    const ratio = median(ratios(timesOf(all), timesOf(calls[DIRECT])));
    const processorMs = all.reduce((sum, one) => sum + one.processorMs, 0) / all.length;
    const ofDirect = name.startsWith('kubectl') ? number(ratio) : '';
    const row = [name, number(middle), number(Math.min(...timesOf(all))), number(processorMs), ofDirect];
    if (name.startsWith(KUBECTL)) return [...row, `≤ ${MOST_KUBECTL}`, verdict(ratio <= MOST_KUBECTL)];
    if (name.startsWith(`${PLUG_IN},`)) return [...row, `≤ ${MOST_PLUG_IN_MS} ms`, verdict(middle <= MOST_PLUG_IN_MS)];
    return [...row, '', ''];
  });
  const title = `One call, ${CALLS} of each in turn; load average ${load.map(number).join(' to ')}`;
  const head = ['', 'median ms', 'least ms', 'processor ms', 'of directly', 'target', ''];
  return table(title, head, rows);
}
