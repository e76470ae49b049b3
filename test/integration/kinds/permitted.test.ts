import { describe, expect, test } from 'vitest';
import { CONFIDENTIAL } from '../service/stand.ts';
import { type KindsStand, namespaceObject, podObject, startKinds } from './kinds-stand.ts';

/** Longer than the cluster's decisions, and the scopes made of them, hold. */
const DECISIONS_MS = 25_000;

const reviews = (stand: KindsStand): number => stand.requests(({ path }) => path.endsWith('/subjectaccessreviews'));

const changes = (story: readonly string[]): string[] => story.filter((line) => !line.startsWith('BOOKMARK'));

describe('one list over the namespaces that the caller may see', () => {
  test('KD-13 is 403 for a caller without any, and a kind without namespaces is never narrowed', async () => {
    const stand = await startKinds();
    const { status, body, headers } = await stand.ask('pods', 'joe');
    expect([status, body.message, headers.get('gatehouse-scope')]).toEqual([
      403,
      'pods is forbidden: User "joe" cannot list resource "pods" in API group "" at the cluster scope',
      null,
    ]);
    stand.allow('red', { group: '', resource: 'persistentvolumes' });
    await stand.clock.spend(DECISIONS_MS);
    expect(await stand.names('persistentvolumes', 'joe')).toBe(403);
  });

  test('KD-13 has the caller’s own verb: a right to list is none to watch', async () => {
    const stand = await startKinds();
    stand.allow('red', { verbs: ['list'] });
    expect(await stand.names('pods?sortBy=name', 'joe')).toHaveLength(2);
    expect((await stand.watch('pods?watch=true', 'joe')).status).toBe(403);
  });

  test('KD-14 costs at most one review a namespace for the first page, and none for the second', async () => {
    const namespaces = Array.from({ length: 40 }, (_, at) => `n-${at}`);
    const stand = await startKinds(namespaces);
    for (const name of ['n-3', 'n-7', 'n-11']) stand.allow(name);
    const existing = (await stand.names('namespaces')) as readonly string[];
    const before = reviews(stand);
    const page = (number: number) => stand.names(`pods?sortBy=name&ascending=true&limit=2&page=${number}`, 'joe');
    expect(await page(1)).toEqual(['n-11/db-1', 'n-3/db-1']);
    const first = reviews(stand) - before;
    expect(first).toBeGreaterThan(3);
    expect(first).toBeLessThanOrEqual(existing.length + 1);
    expect(await page(2)).toEqual(['n-7/db-1', 'n-11/web-1']);
    expect(reviews(stand) - before).toBe(first);
  });

  test('KD-15 has a new right and loses an old one when decisions are asked for again', async () => {
    const stand = await startKinds();
    stand.allow('green');
    const revoke = stand.allow('red');
    const names = () => stand.names('pods?name=web&sortBy=name&ascending=true', 'joe');
    expect(await names()).toEqual(['green/web-1', 'red/web-1']);
    stand.allow('blue');
    revoke();
    await stand.clock.spend(DECISIONS_MS);
    expect(await names()).not.toContain('red/web-1');
    await stand.clock.spend(DECISIONS_MS);
    expect(await names()).toEqual(['blue/web-1', 'green/web-1']);
  });

  test('KD-15 has a new namespace of the same name only with the rights that the caller has there', async () => {
    const stand = await startKinds();
    stand.allow('blue');
    const revoke = stand.allow('red');
    const { headers } = await stand.ask('pods', 'joe');
    revoke();
    stand.cluster.objects.remove('namespaces', 'red');
    await stand.clock.until(
      () => stand.names('pods?name=web', 'joe'),
      (names) => String(names) === 'blue/web-1',
    );
    await stand.clock.spend(DECISIONS_MS);
    stand.cluster.objects.create('namespaces', namespaceObject('red'));
    await stand.clock.spend(DECISIONS_MS);
    expect(await stand.names('pods?name=web', 'joe')).toEqual(['blue/web-1']);
    stand.allow('red');
    await stand.clock.until(
      () => stand.names('pods?name=web', 'joe'),
      (names) => typeof names === 'object' && names.length === 2,
    );
    const again = await stand.ask('pods', 'joe', { 'if-none-match': headers.get('etag') ?? '' });
    expect(again.status).toBe(200);
  });

  test('KD-16 has an ETag of its own: callers with other rights never get a 304 for it', async () => {
    const stand = await startKinds();
    stand.allow('red');
    const own = (await stand.ask('pods', 'joe')).headers.get('etag') ?? '';
    const all = (await stand.ask('pods', 'ada')).headers.get('etag') ?? '';
    const status = async (person: 'ada' | 'joe', etag: string): Promise<number> =>
      (await stand.ask('pods', person, { 'if-none-match': etag })).status;
    expect(own).toMatch(/~[0-9a-f]{16}"$/);
    expect([await status('joe', own), await status('ada', all)]).toEqual([304, 304]);
    expect([await status('ada', own), await status('joe', all)]).toEqual([200, 200]);
    stand.allow('blue');
    await stand.clock.until(
      () => stand.names('pods?name=web', 'joe'),
      (names) => typeof names === 'object' && names.length === 2,
    );
    expect(await status('joe', own)).toBe(200);
  });

  test('KD-17 a watch resumes with the same rights, and begins again with others', async () => {
    const stand = await startKinds();
    stand.allow('red');
    const first = await stand.watch('pods?watch=true', 'joe');
    await stand.clock.until(
      () => first.version,
      (version) => version !== '',
    );
    const { version } = first;
    first.close();
    expect(version).toMatch(/~[0-9a-f]{16}$/);
    stand.cluster.objects.create('pods', podObject('red', 'web-2'));
    const path = `pods?watch=true&resourceVersion=${version}`;
    const same = await stand.watch(path, 'joe');
    await stand.clock.until(
      () => changes(same.story),
      ({ length }) => length > 0,
    );
    expect(changes(same.story)).toEqual(['ADDED web-2']);
    same.close();
    expect((await stand.watch(path, 'ada')).status).toBe(410);
    stand.allow('blue');
    const statusOfResume = async (): Promise<number | undefined> => {
      const watch = await stand.watch(path, 'joe');
      watch.close();
      return watch.status;
    };
    await stand.clock.until(statusOfResume, (status) => status === 410);
    const events = await stand.watch('pods?watch=true', 'joe', {
      accept: 'text/event-stream',
      'last-event-id': version,
    });
    await stand.clock.until(
      () => events.text,
      (text) => text.includes('web-2'),
    );
    expect(events.text).toMatch(/event: ?reset/);
  });

  test('KD-12 a watch over two hundred namespaces is told of a hundred lost and a hundred new ones, each object once', async () => {
    const names = Array.from({ length: 300 }, (_, at) => `n-${at}`);
    const stand = await startKinds(names);
    const revokes = names.slice(0, 200).map((name) => stand.allow(name));
    const watch = await stand.watch('pods?watch=true', 'joe');
    await stand.clock.until(
      () => changes(watch.story).length,
      (length) => length === 400,
    );
    for (const revoke of revokes.slice(0, 100)) revoke();
    for (const name of names.slice(200)) stand.allow(name);
    await stand.clock.until(
      () => changes(watch.story).length,
      (length) => length >= 800,
    );
    const told = watch.events.filter(({ type }) => type !== 'BOOKMARK').slice(400);
    const of = (wanted: string) =>
      told
        .filter(({ type }) => type === wanted)
        .map(({ object: { metadata } }) => `${metadata.namespace}/${metadata.name}`)
        .sort();
    const podsOf = (some: readonly string[]) => some.flatMap((name) => [`${name}/db-1`, `${name}/web-1`]).sort();
    expect(of('DELETED')).toEqual(podsOf(names.slice(0, 100)));
    expect(of('ADDED')).toEqual(podsOf(names.slice(200)));
  });

  test('KD-12 a watch over a part ends when the caller may see everything', async () => {
    const stand = await startKinds();
    stand.allow('red');
    const watch = await stand.watch('pods?watch=true', 'joe');
    await stand.clock.until(
      () => changes(watch.story).length,
      (length) => length === 2,
    );
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] }];
    const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'all-pods' } };
    stand.cluster.objects.create('clusterroles', { ...rbac, kind: 'ClusterRole', rules });
    stand.cluster.objects.create('clusterrolebindings', {
      ...rbac,
      kind: 'ClusterRoleBinding',
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'joe' }],
      roleRef: { kind: 'ClusterRole', apiGroup: 'rbac.authorization.k8s.io', name: 'all-pods' },
    });
    await stand.clock.until(() => watch.ending, Boolean);
    expect(watch.events.at(-1)).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    const again = await stand.ask('pods', 'joe');
    expect([again.body.totalItems, again.headers.get('gatehouse-scope')]).toEqual([6, null]);
  });

  test('KD-11 with the platform kubesphere namespaces are narrowed without being asked', async () => {
    const stand = await startKinds(['red', 'blue'], {
      config: { platform: 'kubesphere', authentication: CONFIDENTIAL },
    });
    stand.allow('red');
    const path = '/kapis/resources.kubesphere.io/v1alpha3/namespaces';
    const { status, body, headers } = await stand.clock.during(stand.service.call(path, { token: stand.tokens.joe }));
    expect([status, body.totalItems, headers.get('kubesphere-scope')]).toEqual([200, 1, 'permitted; namespaces=1']);
  });
});

describe('the pods of a Service over the namespaces that the caller may see', () => {
  const service = (namespace: string) => ({
    ...{ kind: 'Service', apiVersion: 'v1', metadata: { name: 'web', namespace } },
    spec: { selector: { app: 'web' } },
  });
  const path = 'pods?serviceName=web&sortBy=name&ascending=true';

  test('KD-10 KD-13 are those of the namespaces where the caller may list pods and Services', async () => {
    const stand = await startKinds();
    for (const name of ['red', 'green', 'blue']) stand.cluster.objects.create('services', service(name));
    for (const name of ['red', 'blue']) stand.allow(name);
    const refused = await stand.ask(path, 'joe');
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'services is forbidden: User "joe" cannot list resource "services" in API group "" at the cluster scope',
    ]);
    for (const name of ['red', 'green']) stand.allow(name, { resource: 'services', verbs: ['list'] });
    await stand.clock.spend(DECISIONS_MS);
    await stand.clock.until(
      () => stand.names(path, 'joe'),
      (names) => typeof names === 'object',
    );
    const { headers } = await stand.ask(path, 'joe');
    expect([await stand.names(path, 'joe'), headers.get('gatehouse-scope')]).toEqual([
      ['red/web-1'],
      'permitted; namespaces=1',
    ]);
    expect(await stand.names('pods?name=web&sortBy=name&ascending=true', 'joe')).toEqual(['blue/web-1', 'red/web-1']);
  });

  test('KD-12 are told as DELETED by a watch when the right to Services goes', async () => {
    const stand = await startKinds();
    stand.cluster.objects.create('services', service('red'));
    stand.cluster.objects.create('services', service('blue'));
    for (const name of ['red', 'blue']) stand.allow(name);
    const revoke = stand.allow('red', { resource: 'services', verbs: ['list'] });
    stand.allow('blue', { resource: 'services', verbs: ['list'] });
    const watch = await stand.watch('pods?watch=true&serviceName=web', 'joe');
    await stand.clock.until(
      () => changes(watch.story),
      ({ length }) => length === 2,
    );
    revoke();
    await stand.clock.until(
      () => changes(watch.story),
      ({ length }) => length === 3,
    );
    const { type, object } = watch.events.filter((one) => one.type !== 'BOOKMARK').at(-1) ?? {};
    expect([type, object?.metadata.namespace, object?.metadata.name]).toEqual(['DELETED', 'red', 'web-1']);
    expect(watch.ending).toBeUndefined();
  });
});
