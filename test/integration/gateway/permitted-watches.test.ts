import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { HEAD } from './gateway-under-test.ts';
import { nameOf, type PermittedUnderTest, podOf, startPermitted } from './permitted-under-test.ts';
import { RawConnection } from './raw-connection.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const [IN, ALSO_IN, OUT] = [nameOf(7), nameOf(500), nameOf(8)];
const SETTLED_MS = 360_000;

interface WatchEvent {
  readonly type: string;
  readonly object: {
    readonly kind: string;
    readonly code?: number;
    readonly reason?: string;
    readonly metadata: { readonly name: string; readonly namespace?: string; readonly resourceVersion: string };
    readonly rows?: readonly { readonly object: { readonly metadata: { readonly namespace: string } } }[];
  };
}

let stand: PermittedUnderTest;
beforeAll(async () => {
  stand = await startPermitted();
});
afterAll(() => stand.stop());
const open: RawConnection[] = [];
afterEach(async () => {
  for (const { socket } of open.splice(0)) socket.destroy();
  await expect.poll(() => stand.cluster.evidence.openWatches()).toBe(0);
  stand.rights.revokeAll();
  stand.rights.withheld.clear();
  stand.rights.unwatched.clear();
  stand.rights.failure = undefined;
  stand.rights.isEverywhere = false;
  stand.cluster.evidence.reset();
  stand.app.events.length = 0;
  await stand.clock.advance(31_000); // what was seen of the scope is forgotten
});

/** A watch and the events that have come so far. */
class Watch {
  readonly connection: RawConnection;

  private constructor(connection: RawConnection) {
    this.connection = connection;
  }

  static async open(query = '', { path = '/api/v1/pods', accept = 'application/json' } = {}): Promise<Watch> {
    const request = `GET ${path}?watch=1${query} HTTP/1.1\r\n${HEAD}Accept: ${accept}\r\n\r\n`;
    const connection = await RawConnection.open(stand.app.port, request);
    open.push(connection);
    await connection.until(/\r\n\r\n/);
    return new Watch(connection);
  }

  get status(): number {
    return Number(this.connection.text.slice(9, 12));
  }

  get events(): WatchEvent[] {
    return this.connection.text
      .split(/\r?\n/)
      .flatMap((line) => (line.startsWith('{"type"') ? [JSON.parse(line)] : []));
  }

  async seen(count: number): Promise<string[]> {
    await expect.poll(() => this.events.length).toBeGreaterThanOrEqual(count);
    return this.events.map(({ type, object: { metadata } }) => `${type} ${metadata.namespace}/${metadata.name}`);
  }
}

const { patch, create, remove } = {
  patch: (key: string, step: string) => stand.cluster.objects.patch('pods', key, { metadata: { labels: { step } } }),
  create: (namespace: string, name: string) => stand.cluster.objects.create('pods', podOf(namespace, name)),
  remove: (key: string) => stand.cluster.objects.remove('pods', key),
};

async function listed(): Promise<string> {
  const answer = await stand.app.get('/api/v1/pods');
  return ((await answer.json()) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
}

describe('a permitted watch', () => {
  test('KD-32 from the version of a list tells the changes in the scope, each once and in order, and no others', async () => {
    stand.rights.grant(IN, ALSO_IN);
    const version = await listed();
    create(OUT, 'hidden');
    create(IN, 'new');
    const watch = await Watch.open(`&resourceVersion=${version}`);
    patch(`${ALSO_IN}/pod`, '1');
    patch(`${OUT}/pod`, '1');
    remove(`${IN}/new`);
    remove(`${OUT}/hidden`);
    patch(`${IN}/pod`, '2');
    expect(await watch.seen(4)).toEqual([
      `ADDED ${IN}/new`,
      `MODIFIED ${ALSO_IN}/pod`,
      `DELETED ${IN}/new`,
      `MODIFIED ${IN}/pod`,
    ]);
  });

  test('KD-32 without a version, and with initial events, begins with what is in the scope', async () => {
    stand.rights.grant(IN, ALSO_IN);
    const all = [`ADDED ${IN}/pod`, `ADDED ${IN}/pod-b`, `ADDED ${ALSO_IN}/pod`, `ADDED ${ALSO_IN}/pod-b`];
    expect(await (await Watch.open()).seen(4)).toEqual(all);
    const listed =
      '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=';
    const watch = await Watch.open(listed);
    await watch.seen(5);
    expect(watch.events.map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'ADDED', 'ADDED', 'BOOKMARK']);
  });

  test('KD-31 comes as a Table, whose first event has the columns', async () => {
    stand.rights.grant(IN);
    const watch = await Watch.open('', { path: '/api/v1/configmaps', accept: TABLE });
    await watch.seen(1);
    const [{ object }] = watch.events as [WatchEvent];
    expect(object).toMatchObject({ kind: 'Table', rows: [{ object: { metadata: { namespace: IN } } }] });
    expect(object).toHaveProperty('columnDefinitions.0.name', 'Name');
  });

  test('KD-33 of namespaces tells about those of the scope', async () => {
    stand.rights.grant(IN);
    const watch = await Watch.open('', { path: '/api/v1/namespaces' });
    stand.cluster.objects.patch('namespaces', OUT, { metadata: { labels: { a: 'b' } } });
    stand.cluster.objects.patch('namespaces', IN, { metadata: { labels: { a: 'b' } } });
    await watch.seen(2);
    expect(watch.events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
      `ADDED ${IN}`,
      `MODIFIED ${IN}`,
    ]);
  });

  test('KD-30 is the cluster’s own for a caller with the right over the whole cluster', async () => {
    stand.rights.grant(IN);
    stand.rights.isEverywhere = true;
    expect((await Watch.open()).status).toBe(403); // the cluster judges, and knows of no such right
  });

  test('KD-34 has lines of its own in the audit trail, when it begins and ends', async () => {
    stand.rights.grant(IN);
    const watch = await Watch.open();
    watch.connection.socket.destroy();
    await expect.poll(() => stand.app.events.map(({ event }) => event)).toEqual(['cluster_call_began', 'cluster_call']);
    for (const { fields } of stand.app.events)
      expect(fields).toMatchObject({ verb: 'watch', permitted: 'as_ourselves', permittedNamespaces: 1 });
  });

  test('KD-32 over fewer namespaces than the list tells of these, and is 410 after a minute, so that its client lists the others again', async () => {
    stand.rights.grant(IN, ALSO_IN);
    stand.rights.unwatched.add(ALSO_IN);
    const version = await listed();
    const watch = await Watch.open(`&resourceVersion=${version}`);
    expect(watch.status).toBe(200);
    patch(`${ALSO_IN}/pod`, 'unheard');
    const { resourceVersion } = patch(`${IN}/pod`, 'heard').metadata;
    expect(await watch.seen(1)).toEqual([`MODIFIED ${IN}/pod`]);
    await stand.clock.advance(50_000);
    expect(watch.events).toHaveLength(1);
    await stand.clock.advance(10_000);
    await watch.connection.until(/"type":"ERROR".*"code":410/);
    // The client has an older state of the other namespace than this version says.
    stand.rights.unwatched.clear();
    await stand.app.get('/api/v1/pods?labelSelector=none');
    expect((await Watch.open(`&resourceVersion=${resourceVersion}`)).status).toBe(410);
  });

  test('by a caller who may watch in no namespace is the 403 of the cluster', async () => {
    stand.rights.grant(IN);
    stand.rights.unwatched.add(IN);
    expect((await Watch.open('', { path: '/api/v1/configmaps' })).status).toBe(403);
  });

  test('without the right of our own account, the cluster’s 403 is passed on', async () => {
    stand.rights.grant(IN);
    stand.cluster.faults.next({ verb: 'watch', kind: 'pods' }, { status: 403 });
    expect((await Watch.open()).status).toBe(403);
    expect(stand.lacking).toMatchObject([{ verb: 'watch', resource: 'pods' }]);
  });
});

describe('rights that come and go', () => {
  test.each([
    ['a namespace is gained', () => stand.rights.grant(OUT)],
    ['a namespace is lost', () => stand.rights.revoke(ALSO_IN)],
    ['all are lost', () => stand.rights.revoke(IN, ALSO_IN)],
  ])('KD-32 when %s, an open watch ends within 10 s with a 410 that makes clients list again', async (_, change) => {
    stand.rights.grant(IN, ALSO_IN);
    const watch = await Watch.open();
    await watch.seen(4);
    change();
    await stand.clock.advance(10_000);
    await watch.connection.until(/"type":"ERROR"/);
    expect(watch.events.at(-1)).toMatchObject({
      type: 'ERROR',
      object: { kind: 'Status', code: 410, reason: 'Expired' },
    });
    await watch.connection.until(/\r\n0\r\n\r\n/); // an orderly end
  });

  test('KD-32 the end comes at once when another request has noticed the change', async () => {
    stand.rights.grant(IN, ALSO_IN);
    const watch = await Watch.open();
    await watch.seen(4);
    stand.rights.revoke(ALSO_IN);
    await listed();
    patch(`${ALSO_IN}/pod`, 'secret-step');
    await watch.connection.until(/"type":"ERROR"/);
    expect(watch.connection.text).not.toContain('secret-step');
  });

  test('KD-32 a version from before a change is 410, and that of a list after it goes on', async () => {
    stand.rights.grant(IN);
    const before = await listed();
    stand.rights.grant(ALSO_IN);
    const after = await listed();
    expect((await Watch.open(`&resourceVersion=${before}`)).status).toBe(410);
    expect((await Watch.open(`&resourceVersion=${after}`)).status).toBe(200);
    stand.rights.revoke(ALSO_IN);
    await listed();
    expect((await Watch.open(`&resourceVersion=${after}`)).status).toBe(410);
  });

  test('KD-32 a version that this replica has not given out is 410 until the scope has been the same for six minutes', async () => {
    stand.rights.grant(IN);
    const watch = await Watch.open();
    const older = stand.cluster.objects.resourceVersion;
    await watch.seen(2);
    expect((await Watch.open(`&resourceVersion=${older}`)).status).toBe(410);
    await stand.clock.advance(SETTLED_MS + 20_000);
    await expect.poll(() => stand.cluster.evidence.requests.some(({ url }) => url.includes('limit=1'))).toBe(true);
    await stand.clock.advance(1_000);
    expect((await Watch.open(`&resourceVersion=${Number(older) - 1}`)).status).toBe(410);
    const newer = patch(`${IN}/pod`, String(Date.now())).metadata.resourceVersion;
    expect((await Watch.open(`&resourceVersion=${newer}`)).status).toBe(200);
  });

  test('a watch goes on for a minute while its scope is unknown, and then ends in order', async () => {
    stand.rights.grant(IN);
    const watch = await Watch.open();
    await watch.seen(2);
    stand.rights.failure = new Error('no decision');
    await stand.clock.advance(60_000);
    patch(`${IN}/pod`, String(Date.now()));
    await watch.seen(3);
    await stand.clock.advance(20_000);
    await watch.connection.until(/\r\n0\r\n\r\n/);
    expect(watch.connection.text).not.toContain('ERROR');
  });

  test('an open watch is still checked for its caller: a revoked token ends it', async () => {
    stand.rights.grant(IN);
    const watch = await Watch.open();
    await watch.seen(2);
    const good = stand.app.bearers.get('good');
    stand.app.bearers.set('good', { fault: 'invalid' });
    await stand.clock.advance(30_000);
    await watch.connection.until(/\r\n0\r\n\r\n/);
    if (good) stand.app.bearers.set('good', good);
  });

  test('the recheck of an open watch does not ask for the right over the whole cluster, which its caller lacks', async () => {
    stand.rights.grant(IN);
    const watch = await Watch.open();
    await watch.seen(2);
    await stand.clock.advance(120_000);
    patch(`${IN}/pod`, String(Date.now()));
    await watch.seen(3);
  });
});
