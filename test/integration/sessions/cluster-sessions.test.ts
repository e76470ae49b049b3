import { describe, expect, test } from 'vitest';
import { tooOldAmong } from '../../../src/data-age.ts';
import { withCutOff, withRotation, withSessionEnded } from '../../../src/oauth/sessions/session-rules.ts';
import {
  NOTHING_REMEMBERED,
  type SessionChange,
  type SessionStore,
  type UserSessions,
} from '../../../src/oauth/sessions/sessions.ts';
import { tellMeasured } from '../../support/measured.ts';
import { sessionStoreFacts } from '../../support/session-store-suite.ts';
import { openSharedStores } from './shared-stores.ts';

const UPDATE = { verb: 'update', kind: 'secrets' } as const;
const WATCH = { verb: 'watch', kind: 'secrets' } as const;
const UNREADABLE = 'the session record of the user cannot be read';

const end =
  (sid: string, now: number) =>
  (current: UserSessions): SessionChange<undefined> => ({
    next: withSessionEnded(current, sid, { endedAt: now, keepUntil: now + 14_410 }),
    outcome: undefined,
  });

const secretsOf = ({ server }: { server: { objects: { list(kind: string): readonly object[] } } }) =>
  server.objects.list('secrets') as readonly {
    metadata: { name: string; labels?: object };
    data: Record<string, string>;
  }[];

async function open(count = 2) {
  const stores = await openSharedStores(count);
  return { ...stores, one: stores.replicas[0] as SessionStore, two: stores.replicas[1] as SessionStore };
}

describe('sessions in the cluster', () => {
  sessionStoreFacts(() => openSharedStores());

  test('R-17 cost one write a change, and none for a decision that changes nothing', async () => {
    const stores = await open();
    await stores.one.update('alice', end('a', stores.now()));
    await stores.settle();
    const { evidence } = stores.server;
    evidence.reset();
    await stores.two.update('alice', end('b', stores.now()));
    await stores.two.update('alice', () => ({ outcome: undefined }));
    expect(evidence.requests.map(({ verb }) => verb).filter((verb) => verb !== 'watch')).toEqual(['update']);
  });

  test('stand in a Secret per user, named by a digest, with labels to find it by and no token in it', async () => {
    const stores = await open();
    await stores.one.update('alice', end('sid', stores.now()));
    const [secret, ...others] = secretsOf(stores);
    expect(others).toEqual([]);
    expect(secret?.metadata.name).toMatch(/^gatehouse-sessions-[0-9a-f]{40}$/);
    expect(secret?.metadata.labels).toEqual({
      'app.kubernetes.io/managed-by': 'gatehouse',
      'app.kubernetes.io/part-of': 'gatehouse',
      'app.kubernetes.io/component': 'sessions',
    });
    expect(Buffer.from(secret?.data['user'] ?? '', 'base64').toString()).toBe('alice');
  });

  test('show a change of our own at once, though the watch is silent', async () => {
    const stores = await open();
    stores.server.faults.until(WATCH, { stream: { afterEvents: 0, ending: 'silence' } });
    await stores.reconnect();
    await stores.one.update('alice', end('a', stores.now()));
    await stores.one.update('alice', end('b', stores.now()));
    expect([...stores.one.read('alice').dead.keys()]).toEqual(['a', 'b']);
    expect(stores.two.read('alice')).toBe(NOTHING_REMEMBERED);
  });

  test('T-15 are decided on what is stored, though memory is behind', async () => {
    const stores = await open();
    stores.server.faults.until(WATCH, { stream: { afterEvents: 0, ending: 'silence' } });
    await stores.reconnect();
    await stores.one.update('alice', end('a', stores.now()));
    const seen: string[][] = [];
    await stores.two.update('alice', (current) => {
      seen.push([...current.dead.keys()]);
      return end('b', stores.now())(current);
    });
    expect(seen).toEqual([[], ['a']]);
    expect([...stores.two.read('alice').dead.keys()]).toEqual(['a', 'b']);
  });

  test('T-12 a change that is refused rejects and leaves everything as it was', async () => {
    const stores = await open();
    await stores.one.update('alice', end('a', stores.now()));
    stores.server.faults.next(UPDATE, { status: 503 });
    await expect(stores.one.update('alice', end('b', stores.now()))).rejects.toThrow('503');
    await stores.settle();
    for (const store of stores.replicas) expect([...store.read('alice').dead.keys()]).toEqual(['a']);
  });

  test('C-36 a change whose answer is lost is told by the watch, and the retry is decided on it', async () => {
    const stores = await open();
    await stores.one.update('alice', end('a', stores.now()));
    stores.server.faults.next(UPDATE, { connection: 'reset', afterCommit: true });
    await expect(stores.one.update('alice', end('b', stores.now()))).rejects.toThrow();
    const lost = performance.now();
    const seen: string[][] = [];
    await stores.one.update('alice', (current) => {
      seen.push([...current.dead.keys()]);
      return { outcome: undefined };
    });
    await stores.settle();
    for (const store of stores.replicas) expect([...store.read('alice').dead.keys()]).toEqual(['a', 'b']);
    tellMeasured(
      'C-36',
      performance.now() - lost,
      'from a lost answer until the retry is decided and all replicas know',
    );
    expect(seen.length).toBe(1);
  });

  test('of one user that come while one is written share the next write, each decided on the one before it', async () => {
    const stores = await open();
    await stores.one.update('alice', end('first', stores.now()));
    stores.server.evidence.reset();
    await Promise.all(
      Array.from({ length: 30 }, (_, index) => stores.one.update('alice', end(`s${index}`, stores.now()))),
    );
    expect(stores.server.evidence.count('update', 'secrets')).toBe(2);
    expect(stores.one.read('alice').dead.size).toBe(31);
  });

  test('that share a write are answered once it stands, and all refused when it cannot be written', async () => {
    const stores = await open();
    await stores.one.update('alice', end('first', stores.now()));
    const settled: string[] = [];
    const note = (what: string) => () => void settled.push(what);
    const under = stores.one.update('alice', end('a', stores.now())).then(note('a'));
    stores.server.faults.next({ ...UPDATE, skip: 1 }, { status: 503 });
    const [b, c, nothing, broken] = [
      stores.one.update('alice', end('b', stores.now())).catch(note('b is refused')),
      stores.one.update('alice', end('c', stores.now())).catch(note('c is refused')),
      stores.one.update('alice', () => ({ outcome: undefined })).catch(note('what rests on it is refused')),
      stores.one
        .update('alice', () => {
          throw new Error('of its own');
        })
        .catch((error: Error) => settled.push(error.message)),
    ];
    await Promise.all([under, b, c, nothing, broken]);
    expect(settled[0]).toBe('a');
    expect(settled.slice(1).sort()).toEqual([
      'b is refused',
      'c is refused',
      'of its own',
      'what rests on it is refused',
    ]);
    expect([...stores.one.read('alice').dead.keys()]).toEqual(['first', 'a']);
    await stores.one.update('alice', end('d', stores.now()));
    expect([...stores.one.read('alice').dead.keys()]).toEqual(['first', 'a', 'd']);
  });

  test('that share a write are all decided again on what another replica has stored meanwhile', async () => {
    const stores = await open();
    await stores.one.update('alice', end('first', stores.now()));
    stores.server.faults.until(WATCH, { stream: { afterEvents: 0, ending: 'silence' } });
    await stores.reconnect();
    await stores.two.update('alice', end('of the other', stores.now()));
    const seen: string[][] = [];
    const looking = (sid: string) => (current: UserSessions) => {
      seen.push([...current.dead.keys()]);
      return end(sid, stores.now())(current);
    };
    // The first write loses its race; the two that wait share the second.
    await Promise.all(['a', 'b', 'c'].map((sid) => stores.one.update('alice', looking(sid))));
    const all = ['first', 'of the other', 'a', 'b', 'c'];
    expect(seen).toEqual([['first'], all.slice(0, 2), all.slice(0, 3), all.slice(0, 4)]);
    expect([...stores.one.read('alice').dead.keys()]).toEqual(all);
  });

  test('are given up after twelve lost races, and the next change has its chance', async () => {
    const stores = await open();
    await stores.one.update('alice', end('a', stores.now()));
    stores.server.faults.times(12, UPDATE, { status: 409 });
    await expect(stores.one.update('alice', end('b', stores.now()))).rejects.toThrow('12 times in a row');
    await stores.one.update('alice', end('b', stores.now()));
    expect([...stores.one.read('alice').dead.keys()]).toEqual(['a', 'b']);
  });

  test('C-01 lose no change while the cluster is away', async () => {
    const stores = await open();
    await stores.one.update('alice', end('a', stores.now()));
    await stores.settle();
    const back = stores.server.restart(3_000);
    await stores.until(() => stores.server.evidence.openConnections === 0);
    for (let second = 0; second < 40; second++) await stores.clock.advance(1_000);
    await back;
    await stores.two.update('alice', end('b', stores.now()));
    await stores.settle();
    expect([...stores.one.read('alice').dead.keys()]).toEqual(['a', 'b']);
  });

  test('C-23 follow a cluster that was restored to a backup', async () => {
    const stores = await open();
    await stores.one.update('alice', end('a', stores.now()));
    await stores.settle();
    const backup = stores.server.objects.list('secrets')[0]?.metadata.resourceVersion ?? '';
    await stores.one.update('alice', end('b', stores.now()));
    await stores.settle();
    stores.server.restore(backup);
    await stores.settle();
    for (const store of stores.replicas) expect([...store.read('alice').dead.keys()]).toEqual(['a']);
    await stores.two.update('alice', end('c', stores.now()));
    await stores.settle();
    expect([...stores.one.read('alice').dead.keys()]).toEqual(['a', 'c']);
  });

  test('a record that cannot be read is nobody’s proof: its user is neither dead nor alive until it goes', async () => {
    const stores = await open();
    await stores.one.update('alice', end('a', stores.now()));
    await stores.one.update('bob', end('b', stores.now()));
    await stores.settle();
    const name = secretsOf(stores)[0]?.metadata.name ?? '';
    const broken = Buffer.from('{"format":7,"canary":1}').toString('base64');
    stores.server.objects.patch('secrets', `default/${name}`, { data: { 'record.json': broken } });
    await stores.until(() => stores.lines.filter(({ event }) => event === 'session_record_unreadable').length === 2);
    for (const store of stores.replicas) expect(() => store.read('alice')).toThrow(UNREADABLE);
    await expect(stores.one.update('alice', end('c', stores.now()))).rejects.toThrow(UNREADABLE);
    expect(stores.two.read('bob').dead.size).toBe(1);
    expect(JSON.stringify(stores.lines)).not.toContain('canary');
    stores.server.objects.remove('secrets', `default/${name}`);
    await stores.settle();
    expect(stores.one.read('alice')).toBe(NOTHING_REMEMBERED);
  });

  test('a record under another user’s name is not believed', async () => {
    const stores = await open();
    await stores.one.update('alice', end('a', stores.now()));
    const name = secretsOf(stores)[0]?.metadata.name ?? '';
    const bob = Buffer.from('bob').toString('base64');
    stores.server.objects.patch('secrets', `default/${name}`, { data: { user: bob } });
    await stores.until(() => stores.lines.some(({ event }) => event === 'session_record_unreadable'));
    await stores.until(() => stores.replicas.every((store) => throws(() => store.read('alice'))));
    expect(stores.one.read('bob')).toBe(NOTHING_REMEMBERED);
  });

  test('A-47 records that no token depends on any more are removed', async () => {
    const stores = await open();
    await stores.one.update('alice', end('a', stores.now()));
    await stores.two.update('bob', (current) => ({
      next: withCutOff(current, { at: stores.now(), keepUntil: stores.now() + 3 * 86_400 }),
      outcome: undefined,
    }));
    await stores.settle();
    for (let hour = 0; hour < 7; hour++) await stores.clock.advance(3_600_000);
    await stores.until(() => secretsOf(stores).length === 1);
    await stores.settle();
    expect([stores.one.read('alice'), stores.one.read('bob').cutOff > 0]).toEqual([NOTHING_REMEMBERED, true]);
  });

  test('C-38 are judged by until their last proof is ten minutes old, as set, and not a moment longer', async () => {
    const stores = await open();
    const ages = (): number[] =>
      stores.sessions.map(
        ({ upkeep }) => stores.clock.monotonic() - (upkeep.ages.revocation['sessions']?.at ?? Number.NaN),
      );
    const told = () => stores.replicas.map(({ copies }) => tooOldAmong(copies, stores.clock.monotonic()));
    stores.server.faults.until({ kind: 'secrets' }, { status: 500 });
    await stores.reconnect();
    await stores.clock.advance(600_000 - Math.max(...ages()) - 1);
    expect(told()).toEqual([undefined, undefined]);
    await stores.clock.advance(Math.max(...ages()) - Math.min(...ages()) + 2);
    const old = 'sessions are not available: data is older than 10m0s';
    expect(told()).toEqual([old, old]);
    expect(stores.replicas.map((store) => store.fault())).toEqual([undefined, undefined]);
    stores.server.faults.clear();
    const began = stores.clock.monotonic();
    await stores.until(() => told().every((sentence) => sentence === undefined));
    const took = stores.clock.monotonic() - began;
    tellMeasured('C-38', took, 'from the end of the fault until both replicas judge again, by the clock of the test');
  });

  test('tell how long the other replicas wait for a change', async () => {
    const stores = await open();
    await stores.one.update('alice', (current) => ({
      next: withRotation(current, 'sid', {
        generation: 1,
        rotatedAtMs: stores.clock.now(),
        issuedAt: stores.now(),
        kid: 'kid',
        accessJti: 'a',
        refreshJti: 'r',
        keepUntil: stores.now() + 14_410,
      }),
      outcome: undefined,
    }));
    await stores.settle();
    await expect.poll(stores.lagged).toBe(1); // the watch of the writer tells it of its own change, maybe last of all
  });
});

function throws(run: () => unknown): boolean {
  try {
    run();
    return false;
  } catch {
    return true;
  }
}
