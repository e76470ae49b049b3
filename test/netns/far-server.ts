import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Command, Facts } from './protocol.ts';

const run = promisify(execFile);

/** TEST-NET-1 (RFC 5737): routed nowhere. */
const NEAR = '192.0.2.1';
const FAR = '192.0.2.2';
const PROGRAM = join(import.meta.dirname, 'api-server.ts');

/** An API server in a network namespace of its own, joined to ours by a pair of virtual interfaces. */
export interface FarServer {
  tell(command: Command): Promise<Facts>;
  /** Packets of connections from these ports are dropped over there, both ways, without a word to anybody. */
  drop(ports: readonly number[]): Promise<void>;
  /** All packets are. */
  dropAll(): Promise<void>;
  heal(): Promise<void>;
  stop(): Promise<void>;
}

/** Needs root, iproute2 and nftables. */
export async function startFarServer(): Promise<FarServer> {
  const namespace = `gatehouse-${process.pid}`;
  const near = `gh${process.pid}`;
  const ip = (...args: string[]) => run('ip', args);
  const inside = (...args: string[]) => run('ip', ['netns', 'exec', namespace, ...args]);
  await ip('netns', 'add', namespace);
  let child: ChildProcess | undefined;
  try {
    await ip('link', 'add', near, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
  } catch (error) {
    await ip('netns', 'delete', namespace);
    throw error;
  }
  // Linux takes a namespace down in the background, so its interfaces would outlive `netns delete` for a while, and the
  // next server needs their name and address. `link delete` returns when both ends are gone.
  const remove = async (): Promise<void> => {
    await ip('link', 'delete', near);
    await ip('netns', 'delete', namespace);
  };
  try {
    await ip('address', 'add', `${NEAR}/24`, 'dev', near);
    await ip('link', 'set', near, 'up');
    await ip('link', 'set', 'lo', 'up');
    await inside('ip', 'address', 'add', `${FAR}/24`, 'dev', 'eth0');
    await inside('ip', 'link', 'set', 'eth0', 'up');
    await inside('ip', 'link', 'set', 'lo', 'up');
    child = startInside(namespace);
    await answerOf(child);
  } catch (error) {
    child?.kill('SIGKILL');
    await remove();
    throw error;
  }
  return faceOf(child, inside, remove);
}

function startInside(namespace: string): ChildProcess {
  // `ip netns exec` becomes the program, so the child's id and its channel are the program's.
  const args = ['netns', 'exec', namespace, process.execPath, PROGRAM, FAR];
  return spawn('ip', args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

/** The server starts in a second, but Kubernetes may be compiled beside it. */
const ANSWER_LIMIT_MS = 90_000;

async function answerOf(child: ChildProcess): Promise<Facts> {
  const [facts] = (await once(child, 'message', { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) })) as [Facts];
  return facts;
}

function faceOf(
  child: ChildProcess,
  inside: (...args: string[]) => Promise<unknown>,
  remove: () => Promise<void>,
): FarServer {
  const rules = async (...matches: readonly (readonly [string, string])[]): Promise<void> => {
    await inside('nft', 'add table inet fault; flush table inet fault; delete table inet fault');
    if (matches.length === 0) return;
    const chain = ([hook, match]: readonly [string, string]): string =>
      `add chain inet fault ${hook} { type filter hook ${hook} priority 0; }; add rule inet fault ${hook} ${match} drop;`;
    await inside('nft', `add table inet fault; ${matches.map(chain).join(' ')}`);
  };
  return {
    tell: (command) => {
      const answer = answerOf(child);
      child.send(command);
      return answer;
    },
    drop: (ports) => {
      const set = `{ ${ports.join(', ')} }`;
      return rules(['input', `iifname eth0 tcp sport ${set}`], ['output', `oifname eth0 tcp dport ${set}`]);
    },
    dropAll: () => rules(['input', 'iifname eth0'], ['output', 'oifname eth0']),
    heal: () => rules(),
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await remove();
    },
  };
}
