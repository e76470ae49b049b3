import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { NODE_NAME } from './kubernetes/place.ts';
import {
  authorizationRequest,
  CALLBACK,
  clientOf,
  FORGED,
  type FrontName,
  FRONT_NAMES as NAMES,
  PROXY_ADDRESS,
  ProxyStand,
  TELLS,
} from './proxies/proxy-stand.ts';
import { type Caller, NODES } from './stand/caller.ts';
import { passwordOf } from './stand/gateway-stand.ts';
import { kubectl } from './stand/kubectl.ts';
import { Load, type Lost, type Outcome } from './stand/load.ts';
import type { Running, Way } from './stand/way.ts';
import { BENCH, list, pod, shell } from './stand/workload.ts';

const MIB = 2 ** 20;
/** nginx ends by default what is silent for 60 s. */
const SILENT_MS = 61_000;
/** Failures of one address, on each replica. */
const TRIES = 3;
/** With so many failures, one of two replicas has more than its limit. */
const GUESSES = 4 * TRIES;
const BY_SPDY = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' };

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Resolves when this has been said. */
const said = ({ said }: Running, words: RegExp): Promise<string> =>
  eventually(
    async () => said.stdout,
    (text) => words.test(text),
  );

const trusting = (trustedProxies: readonly string[]) => ({
  authentication: { trustedProxies, addressRateLimiterMaxTries: TRIES },
  gateway: { allowProxySubresources: true },
});

interface Silent {
  readonly watch: Running;
  readonly log: Running;
  readonly openedAt: number;
}

let stand: ProxyStand;
/** Of Olga, who may do everything. */
let token: string;
const ways = new Map<FrontName, Way>();
/** Streams in which nothing happens while the other tests are done. */
const silent = new Map<FrontName, Silent>();

beforeAll(async () => {
  stand = await ProxyStand.start('proxies', trusting([`${PROXY_ADDRESS}/32`]));
  ({ access_token: token } = await stand.gateway.signIn('olga'));
  for (const name of NAMES) ways.set(name, await stand.way(name, token));
  const [way] = ways.values();
  await way?.told(['create', '-f', '-'], { input: list(BENCH) });
  await way?.untilReady('bench');
  const cgi = 'mkdir -p /tmp/cgi-bin && cat >/tmp/cgi-bin/tells && chmod +x /tmp/cgi-bin/tells';
  await way?.told(['exec', '--stdin', 'bench', '--', ...shell(cgi)], { input: TELLS });
  for (const name of NAMES) silent.set(name, await silentStreams(name));
});
afterAll(() => stand?.remove());

async function silentStreams(name: FrontName): Promise<Silent> {
  const way = ways.get(name)!;
  const printer = `printer-${name.toLowerCase()}`;
  const prints = 'echo begun; until [ -e /tmp/go ]; do /bin/busybox sleep 0.1; done; echo late';
  await way.told(['create', '-f', '-'], { input: list(pod(printer, { command: shell(prints) })) });
  await way.untilReady(printer);
  const log = await way.start('kubectl', ['logs', '--follow', printer]);
  await said(log, /begun/);
  const late = `metadata.name=late-${name.toLowerCase()}`;
  const watch = await way.start('kubectl', [
    'get',
    'configmaps',
    '--watch',
    '--output=name',
    `--field-selector=${late}`,
  ]);
  return { watch, log, openedAt: performance.now() };
}

/** The watches and the streams of the gateway that are open, of both replicas. */
async function openStreams(): Promise<number> {
  const counts = (await stand.gateway.release.pods()).map(async ({ status }) => {
    const { body } = await request(`http://${status?.podIP}:9091/metrics`, { reset: true });
    const lines = (await body.text()).matchAll(/^gatehouse_(?:gateway_streams\{.*\}|watches) (\d+)$/gm);
    return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/** Sign-ins with a name that nobody has; their statuses. */
async function guess(caller: Caller, times: number, forged = false): Promise<number[]> {
  const statuses: number[] = [];
  for (let count = 0; count < times; count++) {
    const form = { grant_type: 'password', username: `nobody-${randomBytes(4).toString('hex')}`, password: 'guessed' };
    const headers = forged ? { 'x-forwarded-for': `203.0.113.${count}` } : {};
    statuses.push((await caller.token(form, headers)).status);
  }
  return statuses;
}

/** No proxy may send a sign-in again, so one may be lost when Gatehouse closes the connection. On a busy machine it may be answered 429, too. */
const isList = ({ what }: Lost): boolean => what.startsWith('list');

function tell(name: string, { requests, lost }: Outcome): void {
  const why = lost.map(({ what, why }) => `; ${what}: ${why}`);
  console.log(`${name}: ${requests} requests, ${lost.length} lost${why.join('')}`);
}

describe.each(NAMES)('through %s', (name) => {
  const way = (): Way => ways.get(name)!;
  const exec = (line: string, options = {}) =>
    way().kubectl(['exec', '--stdin', 'bench', '--', ...shell(line)], options);

  test('people sign in, by their password and on the page for browsers', async () => {
    const caller = stand.caller(name, 1);
    const { access_token } = await caller.signIn(passwordOf('carol'), 'carol');
    expect(decodeJwt(access_token).iss).toBe('https://gatehouse.example.com/oauth');
    const { url, verifier } = authorizationRequest();
    const browser = stand.browser(name, ({ href }) => href.startsWith(CALLBACK));
    const page = await browser.open(url);
    const asked = await browser.submit(page, { username: 'vera', password: passwordOf('vera') });
    // A public client of this machine gets a code only if the person allows it.
    const { url: callback } = await browser.submit(asked, { decision: 'allow' });
    const code = callback.searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: verifier };
    const { status, body } = await caller.token(form);
    expect(status).toBe(200);
    expect(decodeJwt(body.access_token).sub).toBe('vera');
  });

  test('lists come from memory and from the cluster', async () => {
    const { status, body } = await stand.caller(name, 1).list(token);
    expect([status, body.items[0].metadata.name]).toEqual([200, NODE_NAME]);
    expect(await way().told(['get', 'pods', 'bench', '--output=name'])).toBe('pod/bench\n');
  });

  test('each event of a watch comes at once: nothing follows that would push it out of a buffer', async () => {
    const word = `at-${name.toLowerCase()}`;
    const ours = await way().start('kubectl', ['get', '--raw', `${NODES}?watch=true`]);
    const theirs = await way().start('kubectl', ['get', 'configmaps', '--watch', '--output=name']);
    await said(ours, /"ADDED"/);
    await said(theirs, /kube-root-ca/);
    await kubectl(['label', 'node', NODE_NAME, `came=${word}`, '--overwrite']);
    await said(ours, new RegExp(word));
    await kubectl(['--namespace', way().namespace, 'create', 'configmap', word]);
    await said(theirs, new RegExp(word));
    const open = await openStreams();
    for (const { child } of [ours, theirs]) child.kill('SIGKILL');
    await eventually(openStreams, (count) => count === open - 2);
  });

  test.each([
    ['websocket', {}],
    ['SPDY', BY_SPDY],
  ])('kubectl exec by %s takes 50 MB from standard input', async (_, env) => {
    const input = randomBytes(50 * MIB);
    expect(await exec('sha256sum', { input, env })).toEqual({ code: 0, stdout: `${digest(input)}  -\n`, stderr: '' });
  });

  test('kubectl exec takes a command of 20 kB', async () => {
    const { code, stdout, stderr } = await exec(`: ${'x'.repeat(20_000)}; echo done`);
    expect([code, stdout, stderr]).toEqual([0, 'done\n', '']);
  });

  test('kubectl port-forward brings what the pod serves', async () => {
    const bytes = Buffer.alloc(5 * MIB); // made there: containerd cuts the input of a command that has closed its output
    expect(await exec(`head -c ${bytes.length} /dev/zero >/tmp/file`)).toMatchObject({ code: 0 });
    const forward = await way().start('kubectl', ['port-forward', 'pod/bench', ':8080']);
    const [, port] = /127\.0\.0\.1:(\d+)/.exec(await said(forward, /127\.0\.0\.1:\d+/))!;
    const answer = await fetch(`http://127.0.0.1:${port}/file`);
    const got = await answer.bytes();
    expect([answer.status, got.length, digest(got)]).toEqual([200, bytes.length, digest(bytes)]);
    forward.child.kill();
  });

  test('a body of 50 MB reaches the pod, which is told the address of the client and nothing that the client made up', async () => {
    const bytes = randomBytes(50 * MIB);
    const path = `/api/v1/namespaces/${way().namespace}/pods/bench:8080/proxy/cgi-bin/tells`;
    const { status, body } = await stand
      .caller(name, 2)
      .post(path, bytes, { ...FORGED, authorization: `Bearer ${token}` });
    const [addresses, told] = body.split('\n');
    expect([status, told]).toEqual([200, digest(bytes)]);
    // The API server adds the address of Gatehouse.
    expect(addresses).toMatch(new RegExp(`^${clientOf(name, 2)}, 10\\.`));
  });

  test('A-34 the audit trail has the address of the client, and who guesses passwords locks out nobody else', async () => {
    const [guesser, other] = [stand.caller(name, 3), stand.caller(name, 4)];
    expect(await guess(guesser, GUESSES, true)).toContain(429);
    expect(await guess(other, 1)).toEqual([400]);
    await other.signIn(passwordOf('lena'), 'lena');
    await stand.untilFrom('lena', clientOf(name, 4));
  });
});

test('A-34 who comes by no trusted proxy has the address of the socket, whatever the header says', async () => {
  const url = `http://${await stand.serviceAddress()}/oauth/token`;
  const form = `client_id=gatehouse&client_secret=gatehouse&grant_type=password&username=gustav&password=${passwordOf('gustav')}`;
  const wget = `/bin/busybox wget -q -O /tmp/answer --header 'X-Forwarded-For: 203.0.113.9' --post-data '${form}' ${url}`;
  await kubectl(['--namespace', stand.gateway.namespaces[1], 'exec', 'bench', '--', ...shell(wget)]);
  await stand.untilFrom('gustav', await stand.podAddress('bench'));
});

test.each(NAMES)('a watch and a log that are silent for longer than 60 s stay open through %s', async (name) => {
  const { watch, log, openedAt } = silent.get(name)!;
  await sleep(Math.max(0, openedAt + SILENT_MS - performance.now()));
  const own = ways.get(name)!;
  await kubectl(['--namespace', own.namespace, 'create', 'configmap', `late-${name.toLowerCase()}`]);
  await said(watch, /late-/);
  await kubectl(['--namespace', own.namespace, 'exec', `printer-${name.toLowerCase()}`, '--', ...shell(': >/tmp/go')]);
  expect(await log.ended).toEqual({ code: 0, stdout: 'begun\nlate\n', stderr: '' });
  watch.child.kill();
});

describe('an upgrade that trusts no proxy any more', () => {
  test('R-07 loses no list through a proxy, and ends streams so that kubectl notices', async () => {
    const streams = await Promise.all(
      NAMES.map(async (name) => {
        const way = ways.get(name)!;
        const exec = await way.start('kubectl', ['exec', 'bench', '--', ...shell('echo begun; exec sleep 3600')]);
        const log = await way.start('kubectl', ['logs', '--follow', 'bench']);
        await said(exec, /begun/);
        await said(log, /ready/);
        return [exec, log] as const;
      }),
    );
    let upgraded: Promise<void> | undefined;
    const upgrade = (): Promise<void> => (upgraded ??= stand.upgrade(trusting([])));
    const loads = NAMES.map(async (name) => {
      const options = { tryAgain: false, username: 'olga', connect: stand.connect(name), tellMore: () => stand.logs() };
      const outcome = await new Load(stand.caller(name, 5), passwordOf('olga'), options).during(upgrade);
      tell(name, outcome);
      return outcome;
    });
    for (const { lost } of await Promise.all(loads)) expect(lost.filter(isList)).toEqual([]);
    for (const [exec, log] of streams) {
      const goingAway = '1001 (going away): the server is stopping';
      expect(await exec.ended).toMatchObject({ code: 1, stderr: expect.stringContaining(goingAway) });
      expect(await log.ended).toMatchObject({ code: 1 });
    }
  });

  test('A-34 makes all who come by a proxy one address, whatever the header says: one who guesses locks out the others', async () => {
    for (const name of NAMES) {
      await stand.caller(name, 6).signIn(passwordOf('vera'), 'vera', FORGED);
      await stand.untilFrom('vera', PROXY_ADDRESS);
    }
    const [first, last] = [NAMES[0]!, NAMES.at(-1)!];
    expect(await guess(stand.caller(first, 7), GUESSES, true)).toContain(429);
    expect(await guess(stand.caller(last, 8), GUESSES)).toContain(429);
  });
});
