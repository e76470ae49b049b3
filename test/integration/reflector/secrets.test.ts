import { describe, expect, test } from 'vitest';
import { errorEvent } from '../../../dev/cluster/behaviour.ts';
import type { StoredSecret } from '../../../src/secret-store.ts';
import { waitFor } from '../../support/waiting.ts';
import { connect } from './mirror.ts';

const bytes = (text: string) => ({ key: Buffer.from(text) });
const textOf = (secret: StoredSecret | undefined): string => secret?.data['key']?.toString() ?? 'absent';
const WATCH = { verb: 'watch', kind: 'secrets' };

/** Follows the Secret `keys`, and wakes whoever waits for a change. */
async function follow() {
  const connected = await connect();
  const { server, cluster, clock } = connected;
  const seen: string[] = [];
  const controller = new AbortController();
  const running = cluster.secrets.watch('keys', (secret) => seen.push(textOf(secret)), controller.signal);
  const until = (condition: () => boolean): Promise<void> => pass(clock, condition);
  await until(() => server.evidence.openWatches('secrets') === 1);
  const stop = (): Promise<void> => {
    controller.abort();
    return running;
  };
  return { ...connected, seen, until, stop };
}

/** Lets time go on in small steps until the condition holds; the back-off of a watch is the only thing that waits. */
async function pass(clock: { advance(ms: number): Promise<void> }, condition: () => boolean): Promise<void> {
  await waitFor(condition, Boolean, { turn: () => clock.advance(10), limitMs: 60_000 });
}

describe('Secrets', () => {
  test('are absent, then created by whoever comes first, then changed by compare-and-swap', async () => {
    const { secrets } = (await connect()).cluster;
    expect(await secrets.read('keys')).toBeUndefined();
    const created = await secrets.create('keys', bytes('one'));
    if (created === 'exists') throw new Error('nobody else was there');
    expect([textOf(created), await secrets.create('keys', bytes('two'))]).toEqual(['one', 'exists']);
    const updated = await secrets.update('keys', bytes('three'), created.version);
    expect(updated).toEqual(await secrets.read('keys'));
    expect(await secrets.update('keys', bytes('four'), created.version)).toBe('conflict');
    expect(textOf(await secrets.read('keys'))).toBe('three');
  });

  test('are not changed when somebody else was first between our read and our write', async () => {
    const { cluster, server } = await connect();
    const created = await cluster.secrets.create('keys', bytes('one'));
    if (created === 'exists') throw new Error('nobody else was there');
    server.faults.next({ verb: 'update', kind: 'secrets' }, { status: 409 });
    expect(await cluster.secrets.update('keys', bytes('two'), created.version)).toBe('conflict');
    server.objects.remove('secrets', 'default/keys');
    expect(await cluster.secrets.update('keys', bytes('two'), created.version)).toBe('conflict');
  });

  test('keep the labels and annotations that others gave them', async () => {
    const { cluster, server } = await connect();
    await cluster.secrets.create('keys', bytes('one'));
    server.objects.patch('secrets', 'default/keys', {
      metadata: { annotations: { 'helm.sh/resource-policy': 'keep' } },
    });
    const { version } = (await cluster.secrets.read('keys'))!;
    await cluster.secrets.update('keys', bytes('two'), version);
    const { labels, annotations } = server.objects.get('secrets', 'default/keys')!.metadata;
    expect([labels, annotations]).toEqual([
      { 'app.kubernetes.io/managed-by': 'gatehouse' },
      { 'helm.sh/resource-policy': 'keep' },
    ]);
  });

  test('are refused with an error that says what the cluster said, and nothing of the data', async () => {
    const { cluster, server } = await connect();
    server.faults.next({ verb: 'create', kind: 'secrets' }, { status: 403, message: 'no' });
    const refused = cluster.secrets.create('keys', bytes('canary'));
    await expect(refused).rejects.toThrow('creating the Secret keys was answered 403 Forbidden: no');
  });

  test('are given up when the cluster says nothing for 10 s', async () => {
    const { cluster, server, clock } = await connect();
    server.faults.next({ verb: 'get', kind: 'secrets' }, { connection: 'silence' });
    const read = cluster.secrets.read('keys').then(
      () => 'read',
      () => 'given up',
    );
    await server.evidence.until(() => server.evidence.count('get', 'secrets') === 1);
    await clock.advance(10_000);
    expect(await read).toBe('given up');
  });
});

describe('a watched Secret', () => {
  test('is told as it is, then at every change, then as absent', async () => {
    const { server, seen, until, stop } = await follow();
    server.objects.create('secrets', { metadata: { name: 'keys', namespace: 'default' }, stringData: { key: 'one' } });
    await until(() => seen.length === 2);
    server.objects.create('secrets', { metadata: { name: 'other', namespace: 'default' } });
    server.objects.patch('secrets', 'default/keys', { stringData: { key: 'two' } });
    await until(() => seen.length === 3);
    server.objects.remove('secrets', 'default/keys');
    await until(() => seen.length === 4);
    await stop();
    expect(seen).toEqual(['absent', 'one', 'two', 'absent']);
  });

  test('needs no right but get and watch on its name', async () => {
    const { server, stop } = await follow();
    await stop();
    const asked = server.evidence.requests.map(
      ({ verb, path, query }) => `${verb} ${path} ${query.get('fieldSelector')}`,
    );
    const path = '/api/v1/namespaces/default/secrets';
    expect(new Set(asked)).toEqual(new Set([`get ${path}/keys null`, `watch ${path} metadata.name=keys`]));
  });

  test('C-01 loses no change while the server is away', async () => {
    const { server, seen, until, stop } = await follow();
    const back = server.restart(2_000);
    server.objects.create('secrets', { metadata: { name: 'keys', namespace: 'default' }, stringData: { key: 'one' } });
    await until(() => seen.length === 2);
    await back;
    await stop();
    expect(seen).toEqual(['absent', 'one']);
  });

  test('C-08 is watched, not polled, when the server has forgotten its version', async () => {
    const connected = await connect();
    const { server, cluster, clock } = connected;
    await cluster.secrets.create('keys', bytes('one'));
    server.objects.create('secrets', { metadata: { name: 'later', namespace: 'default' } });
    server.compact();
    const seen: string[] = [];
    const controller = new AbortController();
    const running = cluster.secrets.watch('keys', (secret) => seen.push(textOf(secret)), controller.signal);
    await pass(clock, () => server.evidence.openWatches('secrets') === 1);
    await clock.advance(60_000);
    expect(server.evidence.count('watch', 'secrets')).toBe(1);
    server.objects.patch('secrets', 'default/keys', { data: { key: Buffer.from('two').toString('base64') } });
    await pass(clock, () => seen.length === 2);
    server.objects.remove('secrets', 'default/keys');
    await pass(clock, () => seen.length === 3);
    expect(seen).toEqual(['one', 'two', 'absent']);
    controller.abort();
    await running;
  });

  test('C-08 is read again after 410, and told once', async () => {
    const { server, seen, until, stop } = await follow();
    server.faults.next(WATCH, { stream: { inject: [errorEvent({ status: 410 })], ending: 'silence' } });
    const back = server.restart();
    server.objects.create('secrets', { metadata: { name: 'keys', namespace: 'default' }, stringData: { key: 'one' } });
    await until(() => seen.length === 2);
    await until(() => server.evidence.openWatches('secrets') === 1);
    await back;
    await stop();
    expect(seen).toEqual(['absent', 'one']);
  });

  test('is followed on when its consumer throws', async () => {
    const { cluster, server, clock } = await connect();
    const controller = new AbortController();
    let calls = 0;
    const broken = (): void => {
      calls++;
      throw new Error('a bug');
    };
    const running = cluster.secrets.watch('keys', broken, controller.signal);
    await pass(clock, () => server.evidence.openWatches('secrets') === 1);
    server.objects.create('secrets', { metadata: { name: 'keys', namespace: 'default' } });
    await pass(clock, () => calls === 2);
    controller.abort();
    await running;
  });
});
