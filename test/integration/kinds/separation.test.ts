import { expect, test } from 'vitest';
import { STRIDE_MS } from '../service/driven.ts';
import { namespaceObject, podObject, startKinds } from './kinds-stand.ts';

const EVERYTHING_ENDS_MS = 40_000;

test('two watches of other namespaces never share an event, nor with one over all namespaces', async () => {
  const stand = await startKinds();
  stand.allow('red');
  stand.allow('green');
  const all = await stand.watch('pods?watch=true');
  const red = await stand.watch('namespaces/red/pods?watch=true', 'joe');
  const green = await stand.watch('namespaces/green/pods?watch=true', 'joe');
  const seen = (): string[] => [red, green].map(({ text }) => [...new Set(text.match(/"namespace":"[a-z]+"/g))].join());
  await stand.clock.until(
    () => [all, red, green].every(({ version }) => version !== ''),
    (areAll) => areAll,
  );
  expect(seen()).toEqual(['"namespace":"red"', '"namespace":"green"']);
  stand.cluster.objects.create('pods', podObject('blue', 'late-1'));
  stand.cluster.objects.create('pods', podObject('red', 'late-1'));
  stand.cluster.objects.create('pods', podObject('green', 'late-1'));
  await stand.clock.until(
    () => all.story.filter((line) => line === 'ADDED late-1').length,
    (count) => count === 3,
  );
  await stand.clock.spend(1_000);
  expect(seen()).toEqual(['"namespace":"red"', '"namespace":"green"']);
});

test('a kind that was let go and is read again has other ETags, and no watch resumes from the versions before', async () => {
  const stand = await startKinds(['red'], { config: { kinds: { idle: '30s' } } });
  const before = await stand.ask('pods');
  const etag = before.headers.get('etag') ?? '';
  await stand.clock.spend(EVERYTHING_ENDS_MS);
  await stand.clock.until(
    () => stand.service.metric('gatehouse_kinds_stopped_total{reason="idle"}'),
    (stopped) => stopped === 1,
    STRIDE_MS,
  );
  stand.cluster.objects.remove('pods', 'red/web-1');
  stand.cluster.objects.create('pods', podObject('red', 'web-2'));
  const after = await stand.ask('pods', 'ada', { 'if-none-match': etag });
  expect(after.status).toBe(200);
  expect(after.headers.get('etag')).not.toBe(etag);
  const resumed = await stand.watch(`pods?watch=true&resourceVersion=${etag.replaceAll('"', '')}`);
  resumed.close();
  expect(resumed.status).toBe(410);
});

test('pods are chosen by a Service only with the right to list Services, however the parameter is written', async () => {
  const stand = await startKinds(['red']);
  stand.allow('red');
  const metadata = { name: 'web', namespace: 'red' };
  stand.cluster.objects.create('services', {
    kind: 'Service',
    apiVersion: 'v1',
    metadata,
    spec: { selector: { app: 'web' } },
  });
  expect(await stand.names('namespaces/red/pods?serviceName=web')).toEqual(['red/web-1']);
  for (const name of ['serviceName', '%73erviceName', 'service%4eame', 'serviceNam%65']) {
    expect(await stand.names(`namespaces/red/pods?${name}=web`, 'joe')).toBe(403);
  }
});

test('pods that a Service chooses are never a 304 after its selector changed', async () => {
  const stand = await startKinds(['red']);
  const metadata = { name: 'web', namespace: 'red' };
  const service = { kind: 'Service', apiVersion: 'v1', metadata, spec: { selector: { app: 'web' } } };
  stand.cluster.objects.create('services', service);
  const before = await stand.ask('pods?serviceName=web');
  const etag = before.headers.get('etag') ?? '';
  const again = async (): Promise<string> => {
    const { status, body } = await stand.ask('pods?serviceName=web', 'ada', { 'if-none-match': etag });
    return status === 200 ? body.items[0].metadata.name : `${status}`;
  };
  expect(await again()).toBe('304');
  stand.cluster.objects.patch('services', 'red/web', { spec: { selector: { app: 'db' } } });
  await stand.clock.until(
    () => stand.names('pods?serviceName=web&name=db'),
    (names) => typeof names === 'object' && names.length === 1,
  );
  expect(await again()).toBe('db-1');
});

test('a watch by a Service keeps Services in memory, so that it also finds the pods of a namespace that comes late', async () => {
  const stand = await startKinds(['red'], { config: { kinds: { idle: '30s' } } });
  const service = (namespace: string) => ({
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: 'web', namespace },
    spec: { selector: { app: 'web' } },
  });
  stand.cluster.objects.create('services', service('red'));
  const watch = await stand.watch('pods?watch=true&serviceName=web');
  await stand.clock.until(
    () => watch.story,
    (story) => story.includes('ADDED web-1'),
  );
  await stand.clock.spend(60_000);
  stand.cluster.objects.create('namespaces', namespaceObject('late'));
  stand.cluster.objects.create('services', service('late'));
  await stand.clock.spend(1_000);
  stand.cluster.objects.create('pods', podObject('late', 'web-2'));
  await stand.clock.until(
    () => watch.story,
    (story) => story.includes('ADDED web-2'),
  );
});

test('a watch by a Service ends when its caller may no longer list Services', async () => {
  const stand = await startKinds(['red']);
  stand.allow('red');
  const revoke = stand.allow('red', { resource: 'services', verbs: ['list'] });
  const metadata = { name: 'web', namespace: 'red' };
  const spec = { selector: { app: 'web' } };
  stand.cluster.objects.create('services', { kind: 'Service', apiVersion: 'v1', metadata, spec });
  const watch = await stand.watch('namespaces/red/pods?watch=true&serviceName=web', 'joe');
  await stand.clock.until(
    () => watch.story,
    (story) => story.includes('ADDED web-1'),
  );
  await stand.clock.spend(30_000);
  expect(watch.ending).toBeUndefined();
  revoke();
  await stand.clock.until(
    () => watch.ending,
    (ending) => ending !== undefined,
  );
  expect(watch.events.at(-1)?.object).toMatchObject({
    code: 403,
    message: expect.stringContaining('services is forbidden'),
  });
});
