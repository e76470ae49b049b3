import { describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { kubeconfigText } from '../../../dev/cluster/kubeconfig.ts';
import { newKey, readKeyData, withKeys } from '../../../src/oauth/keys/signing-key-data.ts';
import { Program, runProgram, writeFiles } from './program.ts';
import { eventually, type Service, startCluster, startService } from './stand.ts';

const SECRET = { kind: 'secrets', name: 'gatehouse-signing-keys' } as const;
const KEY = `default/${SECRET.name}`;
const HOUR = 3_600_000;

/** The configuration of an operator outside of the cluster. */
function configFor(kubeconfig: string): string {
  const settings = { kubernetes: { kubeconfig: writeFiles({ kubeconfig }).kubeconfig } };
  return writeFiles({ config: JSON.stringify(settings) }).config;
}

const keys = (cluster: SimulatedCluster, ...args: readonly string[]) =>
  runProgram(['keys', ...args, '--config', configFor(cluster.kubeconfig())]);

const dataOf = (cluster: SimulatedCluster): Record<string, Buffer> => {
  const data = cluster.objects.get('secrets', KEY)?.['data'] as Record<string, string>;
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64')]));
};

const stored = async (cluster: SimulatedCluster) => {
  const read = await readKeyData(dataOf(cluster));
  if ('fault' in read) throw new Error(read.fault);
  return read.keys;
};

const statesOf = async (cluster: SimulatedCluster): Promise<string[]> =>
  (await stored(cluster)).map(({ state }) => state);

const kidsOf = async (service: Service): Promise<string[]> =>
  (await service.call('/oauth/keys')).body.keys.map(({ kid }: { kid: string }) => kid);

async function start(count = 1) {
  const cluster = await startCluster();
  const services = await Promise.all(Array.from({ length: count }, () => startService(cluster)));
  const [one] = services as [Service];
  const [kid = ''] = await kidsOf(one);
  return { cluster, services, one, kid };
}

describe('gatehouse keys', () => {
  test('list prints the keys without anything secret', async () => {
    const { cluster, kid } = await start();
    const { code, stdout, stderr } = await keys(cluster, 'list');
    expect([code, stderr]).toEqual([0, '']);
    const [head, row, ...more] = stdout.split('\n');
    expect(head).toMatch(/^KID +STATE +SINCE +AGE$/);
    expect(row).toMatch(new RegExp(`^${kid}  active       \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ  \\d+s$`));
    expect(more).toEqual(['']);
  });

  test('rotate publishes the next key, and every replica takes it in', async () => {
    const { cluster, services } = await start(2);
    const { code, stdout } = await keys(cluster, 'rotate');
    expect([code, stdout.split('\n')[0]]).toEqual([
      0,
      `published the next signing key ${(await stored(cluster))[1]?.kid}`,
    ]);
    for (const service of services)
      await eventually(
        () => kidsOf(service),
        (kids) => kids.length === 2,
      );
  });

  test('rotate --now activates what was published before, and no replica refuses a token of either key', async () => {
    const { cluster, services, one } = await start(2);
    const next = await newKey('next', Date.now() - HOUR);
    const data = await withKeys(dataOf(cluster), [...(await stored(cluster)), next]);
    const encoded = Object.entries(data).map(([key, bytes]) => [key, bytes.toString('base64')]);
    cluster.objects.patch('secrets', KEY, { data: Object.fromEntries(encoded) });
    for (const service of services)
      await eventually(
        () => kidsOf(service),
        (kids) => kids.length === 2,
      );
    const before = await one.signIn('ada');
    expect(await keys(cluster, 'rotate', '--now')).toEqual({
      code: 0,
      stdout: `the next signing key ${next.kid} was published before\nthe signing key ${next.kid} signs from now on\n`,
      stderr: '',
    });
    const activated = () =>
      one.gatehouse.log.some(({ event, kid }) => event === 'signing_key_activated' && kid === next.kid);
    await eventually(activated, Boolean);
    const after = await one.signIn('ada');
    for (const service of services)
      for (const pair of [before, after]) expect((await service.list(pair.access_token)).status).toBe(200);
  });

  test('revoke ends the tokens of a key on every replica, remembered ones too', async () => {
    const { cluster, services, one, kid } = await start(3);
    const pair = await one.signIn('ada');
    for (const service of services) expect((await service.list(pair.access_token)).status).toBe(200);
    const { code, stdout } = await keys(cluster, 'revoke', kid);
    const [, active] = await stored(cluster);
    expect([code, stdout]).toEqual([
      0,
      `revoked the signing key ${kid}\nwithin seconds every replica refuses its tokens\nthe signing key ${active?.kid} signs\n`,
    ]);
    for (const service of services) {
      const refused = await eventually(
        () => service.list(pair.access_token),
        ({ status }) => status !== 200,
      );
      expect([refused.status, refused.body.message]).toEqual([401, 'Unauthorized: the access token is not valid']);
      expect((await service.refresh(pair.refresh_token)).status).toBe(400);
      expect(await kidsOf(service)).toEqual([active?.kid]);
      expect((await service.list((await one.signIn('ada')).access_token)).status).toBe(200);
    }
  });

  test('a token under a kid that nobody knows is refused without asking the cluster', async () => {
    const { cluster, one } = await start();
    const { access_token: token } = await one.signIn('ada');
    const [, claims, signature] = token.split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'RS256', typ: 'at+jwt', kid: 'A'.repeat(43) })).toString(
      'base64url',
    );
    cluster.evidence.reset();
    expect((await one.list(`${header}.${claims}.${signature}`)).status).toBe(401);
    expect(cluster.evidence.requests).toEqual([]);
  });

  test('revoke refuses a kid that is not listed with 2 and one line', async () => {
    const { cluster } = await start();
    expect(await keys(cluster, 'revoke', 'zzz')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'gatehouse: there is no signing key "zzz"; gatehouse keys list names them all\n',
    });
    expect(await statesOf(cluster)).toEqual(['active']);
  });

  test('C-36 killed between the write and its answer may be repeated', async () => {
    const { cluster } = await start();
    cluster.faults.next({ ...SECRET, verb: 'update' }, { connection: 'silence', afterCommit: true });
    const program = new Program(['keys', 'rotate', '--config', configFor(cluster.kubeconfig())]);
    await eventually(
      () => statesOf(cluster),
      (states) => states.length === 2,
    );
    program.signal('SIGKILL');
    await program.ended;
    const { code, stdout } = await keys(cluster, 'rotate');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^the next signing key [\w-]{43} was published before\n/);
    expect(await statesOf(cluster)).toEqual(['active', 'next']);
  });

  test('C-39 ends with 1 and one line where there is no Secret, and makes none', async () => {
    const cluster = await startCluster({ isNew: true });
    expect(await keys(cluster, 'rotate', '--now')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'gatehouse: there is no Secret gatehouse-signing-keys\n',
    });
    expect(cluster.objects.get('secrets', KEY)).toBeUndefined();
  });

  test('ends with 1 and one line when the cluster is away', async () => {
    const config = configFor(kubeconfigText('http://127.0.0.1:1', 'canary-cluster-token'));
    const { code, stdout, stderr } = await runProgram(['keys', 'list', '--config', config]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^gatehouse: .*\n$/);
    expect(stderr).not.toContain('canary');
  });
});
