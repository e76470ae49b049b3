import { createHash, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { tellMeasured } from '../support/measured.ts';
import { BUSYBOX } from './image/images.ts';
import { byBothWays, GatewayStand, type Ways } from './stand/gateway-stand.ts';
import type { Running, Way } from './stand/way.ts';
import { BENCH, list, pod, shell } from './stand/workload.ts';

const MIB = 2 ** 20;
/** G-15, and what the machine may take on top of it to say so. */
const ENDED_WITHIN_MS = 60_000 + 5_000;

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

let stand: GatewayStand;
let olga: Ways;
beforeAll(async () => {
  stand = await GatewayStand.start('streams');
  olga = await stand.ways('olga');
  for (const way of [olga.straight, olga.through]) {
    await way.told(['create', '-f', '-'], { input: list(BENCH) });
    await way.untilReady('bench');
  }
});
afterAll(() => stand?.remove());

/** Resolves when this has been said. */
const said = ({ said }: Running, words: RegExp): Promise<string> =>
  eventually(
    async () => said.stdout,
    (text) => words.test(text),
  );

interface Ending extends Running {
  readonly name: string;
  /** How many ms after the session was signed out. */
  readonly took: Promise<number>;
}

/** Streams of a session that is signed out at the beginning of this file: they end while the other tests are done. */
const ending: Ending[] = [];
const signedOut = Promise.withResolvers<number>();
afterAll(() => {
  for (const { child } of ending) child.kill();
});

const BY_SPDY = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' };

test('a session is signed out while its streams are open', async () => {
  const { access_token: token } = await stand.signIn('lena');
  const way = await stand.wayThrough('lena', token);
  const open = async (name: string, args: readonly string[], env = {}): Promise<void> => {
    const running = await way.start('kubectl', args, { env });
    const took = running.ended.then(async () => performance.now() - (await signedOut.promise));
    ending.push({ ...running, name, took });
    await said(running, /begun|ready/);
  };
  const exec = ['exec', 'bench', '--', ...shell('echo begun; exec sleep 3600')];
  await open('exec by websocket', exec);
  await open('exec by SPDY', exec, BY_SPDY);
  await open('watch', ['get', 'pods', '--watch', '--output=jsonpath=begun']);
  await open('log', ['logs', 'bench', '--follow']);
  expect((await stand.caller.get('/oauth/logout', token)).status).toBe(200);
  signedOut.resolve(performance.now());
});

describe.each([
  ['websockets', 'websocket', {}],
  ['SPDY', 'spdy', BY_SPDY],
])('G-08 by %s', (_, protocol, env) => {
  const exec = (way: Way, line: string, input?: Buffer) =>
    way.kubectl(['exec', ...(input ? ['--stdin'] : []), 'bench', '--', ...shell(line)], {
      env,
      ...(input && { input }),
    });

  test('kubectl exec has both outputs and the exit code of the command', async () => {
    const { straight, through } = await byBothWays(olga, (way) => exec(way, 'echo out; echo err >&2; exit 7'));
    expect(through).toEqual(straight);
    expect(straight).toEqual({ code: 7, stdout: 'out\n', stderr: 'err\ncommand terminated with exit code 7\n' });
  });

  test('kubectl exec of what is not there fails in the same words', async () => {
    for (const args of [
      ['nothing', '--', 'true'],
      ['bench', '--', 'nonsense'],
      ['bench', '-c', 'other', '--', 'true'],
    ]) {
      const { straight, through } = await byBothWays(olga, (way) => way.kubectl(['exec', ...args], { env }));
      expect(through).toEqual(straight);
      expect(straight.code).not.toBe(0);
    }
  });

  test('kubectl exec --stdin passes 1 MiB there and back, and the end of the input', async () => {
    const input = randomBytes(MIB);
    for (const way of [olga.straight, olga.through]) {
      const { code, stdout } = await exec(way, 'cat', input);
      expect([code, digest(Buffer.from(stdout, 'latin1'))]).toEqual([0, digest(input)]);
    }
  });

  test('kubectl exec --tty has a terminal, which is as large as that of the person', async () => {
    // The container is told a moment after its process has begun.
    const until = (size: string) =>
      `until [ "$(stty size 2>/tmp/unsized)" = "${size}" ]; do sleep 0.1; done; stty size`;
    const container = `${until('33 77')}; ${until('44 88')}; exit 5`;
    const outcomes = [olga.straight, olga.through].map(async (way) => {
      const go = stand.path(`resize-${way.namespace}-${protocol}`);
      const resizing = `(until [ -e ${go} ]; do sleep 0.1; done; stty rows 44 cols 88 </dev/tty) &`;
      const command = `kubectl exec --stdin --tty bench -- /bin/busybox sh -c '${container}'`;
      const running = await way.onTerminal(`stty rows 33 cols 77; ${resizing} ${command}`, env);
      await said(running, /33 77/);
      await writeFile(go, '');
      return running.ended;
    });
    const [straight, through] = await Promise.all(outcomes);
    expect(through).toEqual(straight);
    expect(straight).toMatchObject({ code: 5, stdout: expect.stringMatching(/^33 77\r\n44 88\r\n/) });
  });

  test('kubectl attach reaches the process of the container, and ends with it', async () => {
    const name = `echo-${protocol}`;
    const { straight, through } = await byBothWays(olga, async (way) => {
      const input = list(pod(name, { command: shell('exec cat'), stdin: true }));
      await way.told(['create', '-f', '-'], { input });
      await way.untilReady(name);
      return way.kubectl(['attach', '--stdin', name], { input: 'a line\n', env });
    });
    expect(through).toEqual(straight);
    expect(straight).toMatchObject({ code: 0, stdout: 'a line\n' });
  });

  test('kubectl cp and port-forward bring 5 MiB there and back', async () => {
    const bytes = randomBytes(5 * MIB);
    await writeFile(stand.path('sent'), bytes);
    const digests = [olga.straight, olga.through].map(async (way) => {
      const back = stand.path(`back-${way.namespace}`);
      await way.told(['cp', stand.path('sent'), 'bench:/tmp/file'], { env });
      const there = (await exec(way, 'sha256sum /tmp/file')).stdout.split(' ')[0];
      await way.told(['cp', 'bench:/tmp/file', back], { env });
      const forward = await way.start('kubectl', ['port-forward', 'pod/bench', ':8080'], { env });
      const [, port] = /127\.0\.0\.1:(\d+)/.exec(await said(forward, /127\.0\.0\.1:\d+/))!;
      const fetched = async (): Promise<string> => digest(await (await fetch(`http://127.0.0.1:${port}/file`)).bytes());
      const forwarded = await Promise.all([fetched(), fetched()]);
      const missing = await fetch(`http://127.0.0.1:${port}/nothing`);
      forward.child.kill();
      await forward.ended;
      return [there, digest(await readFile(back)), ...forwarded, missing.status];
    });
    const all = [...Array(4).fill(digest(bytes)), 404];
    expect(await Promise.all(digests)).toEqual([all, all]);
  });
});

describe('G-08', () => {
  test('kubectl logs --follow has every line, and ends with the container', async () => {
    const counts =
      'echo begun; until [ -e /tmp/go ]; do /bin/busybox sleep 0.1; done; for i in 1 2 3; do echo $i; done';
    const { straight, through } = await byBothWays(olga, async (way) => {
      await way.told(['create', '-f', '-'], { input: list(pod('counter', { command: shell(counts) })) });
      await way.untilReady('counter');
      const logs = await way.start('kubectl', ['logs', '--follow', 'counter']);
      await said(logs, /begun/);
      await way.told(['exec', 'counter', '--', ...shell(': > /tmp/go')]);
      return logs.ended;
    });
    expect(through).toEqual(straight);
    expect(through).toEqual({ code: 0, stdout: 'begun\n1\n2\n3\n', stderr: '' });
  });

  test('kubectl run --attach --rm starts a pod, is its terminal, and removes it', async () => {
    const { straight, through } = await byBothWays(olga, (way) =>
      way.kubectl(
        [
          'run',
          'once',
          `--image=${BUSYBOX}`,
          '--restart=Never',
          '--stdin',
          '--rm',
          '--command',
          '--',
          ...shell('read a; echo got $a'),
        ],
        { input: 'a line\n' },
      ),
    );
    expect(through).toEqual(straight);
    expect(through).toMatchObject({ code: 0, stdout: expect.stringContaining('got a line') });
  });
});

test('G-15 the streams of the session that was signed out have ended within 60 s, a websocket with the reason', async () => {
  for (const { name, took } of ending) {
    tellMeasured(name, await took, 'from the end of the session to that of the command');
    expect(await took).toBeLessThan(ENDED_WITHIN_MS);
  }
  const [websocket, spdy, watch, log] = await Promise.all(ending.map(({ ended }) => ended));
  expect(websocket).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('1008 (policy violation): the session has ended'),
  });
  expect(spdy).toMatchObject({ code: 1, stderr: 'error: the session has ended\n' });
  expect(log).toMatchObject({ code: 1, stderr: 'error: unexpected EOF\n' });
  // kubectl takes the end of a watch for the end of what it asked for; other clients begin it again.
  expect(watch).toMatchObject({ code: 0, stderr: '' });
});

test('R-07 a stream that goes on when its replica has stopped is cut so that kubectl fails; one that ends before is whole', async () => {
  const { through } = olga;
  const open = async (args: readonly string[], env = {}): Promise<Running> => {
    const running = await through.start('kubectl', args, { env });
    await said(running, /begun|ready/);
    return running;
  };
  const exec = ['exec', 'bench', '--', ...shell('echo begun; exec sleep 3600')];
  const endless = [await open(['logs', 'bench', '--follow']), await open(exec), await open(exec, BY_SPDY)];
  const short = await open(['exec', 'bench', '--', ...shell('echo begun; /bin/busybox sleep 20; echo whole')]);
  await stand.release.kubectl(['rollout', 'restart', 'deployment/gatehouse']);
  expect(await short.ended).toEqual({ code: 0, stdout: 'begun\nwhole\n', stderr: '' });
  const [log, websocket, spdy] = await Promise.all(endless.map(({ ended }) => ended));
  expect(log).toMatchObject({ code: 1, stderr: 'error: unexpected EOF\n' });
  const goingAway = '1001 (going away): the server is stopping';
  expect(websocket).toMatchObject({ code: 1, stderr: expect.stringContaining(goingAway) });
  expect(spdy).toMatchObject({ code: 1, stderr: 'error: the server is stopping\n' });
});
