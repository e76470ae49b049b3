import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { catalogOf, kindOf, kindsOf } from './catalog-under-test.ts';

describe('a name in a path', () => {
  test.each([
    // 3.4's kind of that name
    ['deployments', 'deployments.apps'],
    ['ingresses', 'ingresses.networking.k8s.io'],
    ['applications', 'applications.app.k8s.io'],
    ['clusters', 'clusters.cluster.kubesphere.io'],
    ['users', 'users.iam.kubesphere.io'],
    // the core group
    ['services', 'services'],
    ['pods', 'pods'],
    // the only group that has it
    ['certificates', 'certificates.cert-manager.io'],
    // with a group
    ['ingresses.extensions', 'ingresses.extensions'],
    ['services.serving.knative.dev', 'services.serving.knative.dev'],
    ['deployments.apps', 'deployments.apps'],
  ])("KD-02 %s means 3.4's kind, then the core group, then the only group: %s", async (name, meant) => {
    const kinds = kindsOf(
      ...['deployments.extensions', 'deployments.apps', 'ingresses.extensions', 'ingresses.networking.k8s.io'],
      ...['applications.argoproj.io', 'applications.app.k8s.io', 'clusters.cluster.x-k8s.io'],
      ...['clusters.cluster.kubesphere.io', 'users.iam.kubesphere.io', 'users.example.com'],
      ...['services.serving.knative.dev', 'services', 'pods', 'pods.metrics.k8s.io', 'certificates.cert-manager.io'],
    );
    const { catalog, stop } = catalogOf(kinds);
    expect(await catalog.resolve(name)).toEqual({ kind: kindOf(meant) });
    await stop();
  });

  test("KD-02 is ambiguous when several other groups have it, also where 3.4's group is not there", async () => {
    const { catalog, stop } = catalogOf(kindsOf('clusters.postgresql.cnpg.io', 'clusters.cluster.x-k8s.io'));
    expect(await catalog.resolve('clusters')).toEqual({
      ambiguous: kindsOf('clusters.cluster.x-k8s.io', 'clusters.postgresql.cnpg.io'),
    });
    await stop();
  });

  const page = readFileSync(new URL('../../../../docs/contract/kinds.md', import.meta.url), 'utf8');
  const table = [...page.matchAll(/^\| `([a-z0-9.<>]+)` \| ((?:`[a-z]+`(?:, )?)+) \|$/gm)].flatMap(
    ([, group = '', plurals = '']) =>
      [...plurals.matchAll(/`([a-z]+)`/g)].map(
        ([, plural]) => `${plural}.${group.replace('<platform>', 'kubesphere')}`,
      ),
  );

  test('KD-02 means the group that the contract names, for each plural that it names', async () => {
    expect(table.length).toBeGreaterThan(40);
    const plurals = table.map((name) => name.slice(0, name.indexOf('.')));
    const others = plurals.flatMap((plural) => [`${plural}.aaa.example.com`, `${plural}.zzz.example.com`]);
    const { catalog, stop } = catalogOf(kindsOf(...others, ...table));
    const meant = await Promise.all(plurals.map(async (plural) => catalog.resolve(plural)));
    expect(meant).toEqual(table.map((name) => ({ kind: kindOf(name) })));
    await stop();
  });

  test("KD-02 means the kind of the configured platform's own groups", async () => {
    const kinds = kindsOf('workspaces.tenant.acme.io', 'workspaces.tenant.kubesphere.io');
    const { catalog, stop } = catalogOf(kinds, {}, { platform: 'acme' });
    expect(await catalog.resolve('workspaces')).toEqual({ kind: kindOf('workspaces.tenant.acme.io') });
    await stop();
  });

  test.each([
    'widgets',
    'pods.apps',
    'deployments',
    'pod',
    'po',
    'Pods',
    'pods/status',
    'pods.',
    '.apps',
    '..',
    'x'.repeat(64),
  ])('KD-03 that no kind has is unknown: %s', async (name) => {
    const { catalog, stop } = catalogOf([kindOf('pods', { singularName: 'pod', shortNames: ['po'] })]);
    expect(await catalog.resolve(name)).toEqual({ unknown: true });
    await stop();
  });

  test('KD-03 that can be of no kind costs no read', async () => {
    const { catalog, cluster, stop } = catalogOf([]);
    for (const name of ['Pods', 'a/b', '', 'a..b'.padStart(400, 'x'), 'pods.']) await catalog.resolve(name);
    expect(cluster.reads).toBe(0);
    await stop();
  });
});

describe('a kind that is not listed', () => {
  test.each([
    ['componentstatuses', ['get', 'list'], 'no watch'],
    ['tokenreviews.authentication.k8s.io', ['create'], 'no list and no watch'],
    ['pods.metrics.k8s.io', ['get', 'list'], 'no watch'],
    ['odd.example.com', ['watch'], 'no list'],
  ])('KD-04 %s is named as one that cannot be followed', async (name, verbs, lacking) => {
    const { catalog, stop } = catalogOf([kindOf(name, { verbs })]);
    expect(await catalog.resolve(name)).toEqual({
      notListable: `${name} are not served here, because the cluster's API for them has ${lacking}`,
    });
    expect(await catalog.kinds()).toEqual([]);
    await stop();
  });

  test.each(['events', 'events.events.k8s.io'])('KD-04 %s are listed only where they are switched on', async (name) => {
    const off = catalogOf(kindsOf('events', 'events.events.k8s.io', 'events.example.com'));
    expect(await off.catalog.resolve(name)).toEqual({ notListable: expect.stringContaining('kinds.events is false') });
    expect((await off.catalog.kinds()).map(({ name }) => name)).toEqual(['events.example.com']);
    await off.stop();
    const on = catalogOf(kindsOf(name), { events: true });
    expect(await on.catalog.resolve(name)).toEqual({ kind: kindOf(name) });
    await on.stop();
  });

  test('KD-05 is that of Secrets, unless their metadata is listed', async () => {
    const kinds = kindsOf('secrets', 'secrets.example.com');
    const off = catalogOf(kinds);
    expect(await off.catalog.resolve('secrets')).toEqual({
      notListable: 'secrets are not served here (kinds.secrets is none)',
    });
    expect((await off.catalog.kinds()).map(({ name }) => name)).toEqual(['secrets.example.com']);
    await off.stop();
    const on = catalogOf(kinds, { secrets: 'metadata' });
    expect(await on.catalog.resolve('secrets')).toEqual({ kind: kindOf('secrets') });
    await on.stop();
  });

  test('KD-06 is one that the configuration denies, by its group, whatever else is wrong with it', async () => {
    const isAllowed = ({ group }: { readonly group: string }): boolean => group !== 'example.com';
    const kinds = [kindOf('pods'), kindOf('pods.example.com'), kindOf('reviews.example.com', { verbs: ['create'] })];
    const { catalog, stop } = catalogOf(kinds, { isAllowed });
    expect(await catalog.resolve('pods.example.com')).toEqual({ denied: true });
    expect(await catalog.resolve('reviews')).toEqual({ denied: true });
    expect(await catalog.resolve('pods')).toEqual({ kind: kindOf('pods') });
    expect((await catalog.kinds()).map(({ name }) => name)).toEqual(['pods']);
    await stop();
  });
});

describe('the kinds that can be listed', () => {
  test('KD-02 have the plural as their name, or plural.group where the plural alone means another kind', async () => {
    const names = [
      'nodes.longhorn.io',
      'pods',
      'deployments.apps',
      'deployments.example.com',
      'a.x.io',
      'a.y.io',
      'b.x.io',
    ];
    const { catalog, stop } = catalogOf(kindsOf('nodes', ...names));
    const listed = await catalog.kinds();
    expect(listed.map(({ name }) => name)).toEqual([
      ...['nodes', 'pods', 'deployments', 'deployments.example.com', 'nodes.longhorn.io'],
      ...['a.x.io', 'b', 'a.y.io'],
    ]);
    for (const { name, group, resource } of listed)
      expect(await catalog.resolve(name)).toEqual({ kind: kindOf(group === '' ? resource : `${resource}.${group}`) });
    await stop();
  });

  test('are the same array while nothing changes', async () => {
    const { catalog, cluster, clock, stop } = catalogOf(kindsOf('pods'));
    const before = await catalog.kinds();
    cluster.kinds = kindsOf('pods');
    await clock.advance(5_000);
    expect(await catalog.kinds()).toBe(before);
    expect(cluster.reads).toBe(2);
    await stop();
  });

  test('are found by group and plural, listed or not', async () => {
    const { catalog, cluster, stop } = catalogOf(
      [kindOf('pods'), kindOf('secrets'), kindOf('nodes', { namespaced: false })],
      {
        isAllowed: () => false,
      },
    );
    expect(await catalog.find('', 'secrets')).toEqual(kindOf('secrets'));
    expect(catalog.find('', 'nodes')).toEqual(kindOf('nodes', { namespaced: false }));
    expect(await catalog.find('apps', 'pods')).toBe(undefined);
    expect(cluster.reads).toBe(1);
    await stop();
  });
});
