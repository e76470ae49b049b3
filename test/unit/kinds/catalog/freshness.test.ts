import { describe, expect, test } from 'vitest';
import { ClusterError } from '../../../../src/kubernetes/client/api-client.ts';
import { catalogOf, kindOf, kindsOf } from './catalog-under-test.ts';

const POD = { kind: kindOf('pods') };
const UNKNOWN = { unknown: true };
const MINUTE = 60_000;

describe('the cluster', () => {
  test('KD-01 is asked nothing while nobody uses kinds', async () => {
    const { cluster, clock, stop } = catalogOf(kindsOf('pods'));
    await clock.advance(60 * MINUTE);
    expect(cluster.reads).toBe(0);
    await stop();
  });

  test('KD-01 is read once for a hundred first uses, which wait for it', async () => {
    const { catalog, cluster, stop } = catalogOf(kindsOf('pods'));
    const uses = Array.from({ length: 50 }, () => [catalog.resolve('pods'), catalog.resolve('widgets')]).flat();
    expect((await Promise.all(uses)).filter((answer) => 'kind' in answer).length).toBe(50);
    expect(cluster.reads).toBe(1);
    await stop();
  });

  test('KD-01 is read again every 5 s for as long as kinds are in use, and not after ten minutes without a use', async () => {
    const { catalog, cluster, clock, stop } = catalogOf(kindsOf('pods'));
    await catalog.resolve('pods');
    await clock.advance(5 * MINUTE);
    expect(cluster.reads).toBe(1 + 60);
    await catalog.find('', 'pods');
    await clock.advance(10 * MINUTE - 1);
    expect(cluster.reads).toBe(1 + 60 + 119);
    await clock.advance(60 * MINUTE);
    expect(cluster.reads).toBe(1 + 60 + 119);
    await stop();
  });

  test('KD-01 is read again by the first use after a pause, which waits for it, and then followed again', async () => {
    const { catalog, cluster, clock, stop } = catalogOf(kindsOf('pods'));
    await catalog.resolve('pods');
    await clock.advance(60 * MINUTE);
    cluster.kinds = kindsOf('widgets.example.com');
    const before = cluster.reads;
    const uses = [catalog.resolve('pods'), catalog.resolve('widgets')];
    expect(await Promise.all(uses)).toEqual([UNKNOWN, { kind: kindOf('widgets.example.com') }]);
    await clock.advance(10_000);
    expect(cluster.reads).toBe(before + 3);
    await stop();
  });

  test('KD-03 is read at most once in 5 s, however many made-up names are asked for', async () => {
    const { catalog, cluster, clock, stop } = catalogOf(kindsOf('pods'));
    for (let round = 0; round < 10; round++) {
      const names = Array.from({ length: 1_000 }, (_, index) => `made-up-${round}-${index}`);
      expect(await Promise.all(names.map((name) => catalog.resolve(name)))).toEqual(names.map(() => UNKNOWN));
      await clock.advance(1_000);
    }
    expect(cluster.reads).toBe(3);
    await stop();
  });

  test('KD-03 is read for an unknown name where the last read is older than 5 s, and the name may be known then', async () => {
    const { catalog, cluster, clock } = catalogOf(kindsOf('pods'), {}, { runs: false });
    await catalog.resolve('pods');
    cluster.kinds = kindsOf('pods', 'widgets.example.com');
    expect(await catalog.resolve('widgets')).toEqual(UNKNOWN);
    await clock.advance(4_999);
    expect(await catalog.resolve('widgets')).toEqual(UNKNOWN);
    expect(cluster.reads).toBe(1);
    await clock.advance(1);
    expect(await catalog.resolve('widgets')).toEqual({ kind: kindOf('widgets.example.com') });
    expect(cluster.reads).toBe(2);
    await clock.advance(5_000);
    cluster.kinds = kindsOf('gadgets.example.com');
    expect(await catalog.find('example.com', 'gadgets')).toEqual(kindOf('gadgets.example.com'));
    expect(await catalog.find('example.com', 'widgets')).toBe(undefined);
    expect(cluster.reads).toBe(3);
  });
});

describe('a kind', () => {
  test('KD-01 that is known is answered at once', async () => {
    const { catalog, stop } = catalogOf(kindsOf('pods'));
    await catalog.resolve('pods');
    expect(catalog.resolve('pods')).toEqual(POD);
    await stop();
  });

  test('KD-01 that comes is known, and one that goes is unknown, within 10 s', async () => {
    const { catalog, cluster, clock, stop } = catalogOf(kindsOf('pods'));
    await catalog.resolve('pods');
    await clock.advance(1_000);
    cluster.kinds = kindsOf('widgets.example.com');
    expect(catalog.resolve('pods')).toEqual(POD);
    await clock.advance(5_000);
    expect(catalog.resolve('widgets')).toEqual({ kind: kindOf('widgets.example.com') });
    expect(await catalog.resolve('pods')).toEqual(UNKNOWN);
    await stop();
  });

  test('KD-01 that goes, or changes its version, scope, Kind or verbs, is told to those who hold its objects', async () => {
    const held = kindsOf('a.x.io', 'b.x.io', 'c.x.io', 'd.x.io', 'e.x.io', 'f.x.io');
    const { catalog, cluster, clock, lines, stop } = catalogOf(held);
    const removed: string[][] = [];
    const forget = catalog.onRemoved((kinds) =>
      removed.push(kinds.map(({ resource, version }) => `${resource} ${version}`)),
    );
    await catalog.resolve('a');
    cluster.kinds = [
      kindOf('b.x.io', { version: 'v2' }),
      kindOf('c.x.io', { namespaced: false }),
      kindOf('d.x.io', { kind: 'Other' }),
      kindOf('e.x.io', { verbs: ['get', 'list'] }),
      kindOf('f.x.io', { shortNames: ['f'], verbs: ['list', 'watch'] }),
      kindOf('g.x.io'),
    ];
    await clock.advance(5_000);
    expect(removed).toEqual([['a v1', 'b v1', 'c v1', 'd v1', 'e v1']]);
    expect(lines).toEqual([
      {
        level: 'info',
        message: 'the cluster has other kinds than before',
        members: {
          removed: ['a.x.io', 'b.x.io', 'c.x.io', 'd.x.io', 'e.x.io'],
          added: ['b.x.io', 'c.x.io', 'd.x.io', 'e.x.io', 'g.x.io'],
        },
      },
    ]);
    expect(catalog.resolve('f')).toEqual({ kind: kindOf('f.x.io', { shortNames: ['f'], verbs: ['list', 'watch'] }) });
    forget();
    cluster.kinds = [];
    await clock.advance(5_000);
    expect(removed.length).toBe(1);
    await stop();
  });

  test('KD-01 that does not change stays the same object while others come and go', async () => {
    const { catalog, cluster, clock, stop } = catalogOf(kindsOf('pods', 'a.x.io'));
    const before = await catalog.find('', 'pods');
    cluster.kinds = kindsOf('b.x.io', 'pods');
    await clock.advance(5_000);
    expect(catalog.resolve('b')).toEqual({ kind: kindOf('b.x.io') });
    expect(catalog.find('', 'pods')).toBe(before);
    await stop();
  });

  test('KD-01 that comes is told to nobody, and neither are short names; one that goes is', async () => {
    const { catalog, cluster, clock, lines, stop } = catalogOf(kindsOf('pods'));
    const told: unknown[] = [];
    catalog.onRemoved((kinds) => told.push(kinds));
    await catalog.resolve('pods');
    cluster.kinds = [kindOf('pods', { shortNames: ['po'] })];
    await clock.advance(5_000);
    expect([told, lines]).toEqual([[], []]);
    cluster.kinds = [kindOf('pods', { shortNames: ['po'] }), kindOf('a.x.io')];
    await clock.advance(5_000);
    expect(catalog.resolve('a')).toEqual({ kind: kindOf('a.x.io') });
    expect(told).toEqual([]);
    expect(lines).toMatchObject([{ level: 'info', members: { removed: [], added: ['a.x.io'] } }]);
    cluster.kinds = kindsOf('a.x.io');
    await clock.advance(5_000);
    expect(told).toEqual([[kindOf('pods', { shortNames: ['po'] })]]);
    expect(lines.at(-1)).toMatchObject({ level: 'info', members: { removed: ['pods'], added: [] } });
    await stop();
  });
});

describe('a cluster that fails', () => {
  test('KD-01 leaves what was known, with its age', async () => {
    const { catalog, cluster, clock, lines, stop } = catalogOf(kindsOf('pods'));
    expect(catalog.proof.at).toBe(Number.NEGATIVE_INFINITY);
    await catalog.resolve('pods');
    await clock.advance(5_000);
    expect(catalog.proof.at).toBe(5_000);
    cluster.failure = new Error('refused');
    await clock.advance(MINUTE);
    expect([catalog.proof.at, catalog.resolve('pods')]).toEqual([5_000, POD]);
    expect(await catalog.resolve('widgets')).toEqual(UNKNOWN);
    expect(lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      'the discovery of the cluster cannot be read',
    ]);
    cluster.failure = undefined;
    await clock.advance(5_000);
    expect(catalog.proof.at).toBe(70_000);
    expect(lines.at(-1)).toMatchObject({ level: 'info', message: 'the discovery of the cluster answers again' });
    await stop();
  });

  test('KD-01 leaves what was known to the first use after a pause as well', async () => {
    const { catalog, cluster, clock, stop } = catalogOf(kindsOf('pods'));
    await catalog.resolve('pods');
    await clock.advance(60 * MINUTE);
    cluster.failure = new Error('refused');
    expect(await catalog.resolve('pods')).toEqual(POD);
    expect(catalog.resolve('pods')).toEqual(POD);
    await stop();
  });

  test('KD-01 is 503 with Retry-After while nothing is known, and is not asked more often for that', async () => {
    const { catalog, cluster, clock, stop } = catalogOf(kindsOf('pods'));
    cluster.failure = new Error('refused');
    const refusal = (seconds: number) => ({
      answer: {
        code: 503,
        message: 'the kinds of the cluster are not known yet',
        details: { retryAfterSeconds: seconds },
      },
    });
    for (let use = 0; use < 3; use++) await expect(catalog.resolve('pods')).rejects.toMatchObject(refusal(5));
    await expect(catalog.kinds()).rejects.toMatchObject(refusal(5));
    await expect(catalog.find('', 'pods')).rejects.toMatchObject(refusal(5));
    await clock.advance(3_001);
    await expect(catalog.resolve('pods')).rejects.toMatchObject(refusal(2));
    expect(cluster.reads).toBe(1);
    cluster.failure = undefined;
    await clock.advance(5_000);
    expect(catalog.resolve('pods')).toEqual(POD);
    await stop();
  });

  test('KD-01 is 503 with the shortest Retry-After where a read took long to fail', async () => {
    const { catalog, cluster, clock, stop } = catalogOf(kindsOf('pods'));
    Object.assign(cluster, { readMs: 8_000, failure: new Error('refused') });
    const uses = [catalog.resolve('pods'), catalog.resolve('widgets')];
    const refused = Promise.all(
      uses.map((use) => expect(use).rejects.toMatchObject({ answer: { details: { retryAfterSeconds: 1 } } })),
    );
    await clock.advance(8_000);
    await refused;
    expect(cluster.reads).toBeLessThanOrEqual(2);
    await stop();
  });

  test('KD-06 that refuses discovery to our account is 503 in the words of the cluster', async () => {
    const { catalog, cluster, stop } = catalogOf([]);
    const message = 'forbidden: User "system:serviceaccount:gatehouse:gatehouse" cannot get path "/apis"';
    const body = { kind: 'Status', code: 403, reason: 'Forbidden', message };
    cluster.failure = new ClusterError('discovery', { status: 403, headers: {}, body, bytes: 0 });
    await expect(catalog.resolve('pods')).rejects.toMatchObject({
      answer: { code: 503, message: expect.stringContaining('a right is missing: User') },
    });
    await stop();
  });

  test('KD-03 in one API group is 503 for an unknown kind of that group, and 404 for others', async () => {
    const { catalog, cluster, clock, stop } = catalogOf(kindsOf('pods', 'known.away.io'));
    cluster.awayGroups = new Set(['away.io']);
    expect(await catalog.resolve('known.away.io')).toEqual({ kind: kindOf('known.away.io') });
    await expect(catalog.resolve('unknown.away.io')).rejects.toMatchObject({
      answer: {
        code: 503,
        message: 'the API group "away.io" of the cluster does not answer',
        details: { retryAfterSeconds: 5 },
      },
    });
    expect(await catalog.resolve('unknown')).toEqual(UNKNOWN);
    expect(await catalog.resolve('unknown.other.io')).toEqual(UNKNOWN);
    cluster.awayGroups = new Set(['other.io']);
    await clock.advance(5_000);
    expect(await catalog.resolve('unknown.away.io')).toEqual(UNKNOWN);
    await expect(catalog.resolve('unknown.other.io')).rejects.toThrow('"other.io"');
    cluster.awayGroups = new Set();
    await clock.advance(5_000);
    expect(await catalog.resolve('unknown.other.io')).toEqual(UNKNOWN);
    await stop();
  });
});

describe('the end', () => {
  test('leaves no timer', async () => {
    const { catalog, cluster, clock, stop } = catalogOf(kindsOf('pods'));
    await catalog.resolve('pods');
    await clock.advance(1_000);
    await stop();
    await clock.advance(60 * MINUTE);
    expect([cluster.reads, clock.pendingTimers]).toEqual([1, 0]);
  });

  test('gives up the read in flight, which is no failure of the cluster', async () => {
    const { catalog, cluster, clock, lines, stop } = catalogOf(kindsOf('pods'));
    cluster.readMs = 8_000;
    const use = catalog.resolve('pods');
    await Promise.all([stop(), expect(use).rejects.toMatchObject({ answer: { code: 503 } })]);
    expect([clock.pendingTimers, lines]).toEqual([0, []]);
  });
});
