import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ClusterError } from '../../../../src/kubernetes/client/api-client.ts';
import { createLease, type Lease } from '../../../../src/kubernetes/leases/lease.ts';
import type { KubernetesObject } from '../../../../src/kubernetes/object.ts';
import type { ClusterObjects, NewObject } from '../../../../src/kubernetes/objects/cluster-objects.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const refusal = (code: number, reason: string): ClusterError =>
  new ClusterError('a request', { status: code, headers: {}, body: { code, reason }, bytes: 0 });

type Spec = Readonly<Record<string, unknown>>;

/** Leases in memory, with compare-and-swap, and what a test does to requests on their way. */
class MemoryLeases {
  stored: KubernetesObject | undefined;
  readonly log: string[] = [];
  /** Called with each request before it is carried out. */
  before: (request: string) => Promise<void> = () => Promise.resolve();
  /** Called with each request after it was carried out. */
  after: (request: string) => Promise<void> = () => Promise.resolve();
  #version = 0;

  get spec(): Spec {
    return this.stored?.['spec'] as Spec;
  }

  /** Somebody else writes it. */
  write(spec: object): void {
    this.stored = {
      metadata: { name: 'tidy', uid: 'u', resourceVersion: String(++this.#version), labels: { of: 'others' } },
      spec,
    };
  }

  objects(): ClusterObjects {
    const done = async <T>(request: string, act: () => T): Promise<T> => {
      this.log.push(request);
      await this.before(request);
      const result = act();
      await this.after(request);
      return result;
    };
    const other = (): never => expect.fail('not needed of a lease');
    return {
      get: () => done('get', () => this.stored),
      create: (object: NewObject) =>
        done('create', () => {
          if (this.stored) throw refusal(409, 'AlreadyExists');
          expect(object.metadata).toEqual({ name: 'tidy' });
          this.write(object['spec'] as object);
          return this.stored!;
        }),
      replace: (object) =>
        done('replace', () => {
          const { stored } = this;
          if (object.metadata.resourceVersion !== stored?.metadata.resourceVersion) throw refusal(409, 'Conflict');
          expect(object.metadata).toEqual(stored.metadata);
          this.write(object['spec'] as object);
          return this.stored!;
        }),
      list: other,
      patch: other,
      remove: other,
    };
  }
}

interface Candidate {
  readonly lease: Lease;
  readonly stop: () => Promise<void>;
  readonly lines: { readonly level: number; readonly msg: string }[];
}

interface Stand {
  readonly clock: FakeClock;
  readonly leases: MemoryLeases;
  join(identity: string): Candidate;
}

function stand(): Stand {
  const clock = new FakeClock();
  const leases = new MemoryLeases();
  const random = { bytes: (length: number) => Buffer.alloc(length), fraction: () => 0.5 };
  return {
    clock,
    leases,
    join(identity) {
      const lines: Candidate['lines'] = [];
      const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
      const asked: object[] = [];
      const objects = (collection: object): ClusterObjects => {
        asked.push(collection);
        return leases.objects();
      };
      const options = { name: 'tidy', namespace: 'apps', identity };
      const lease = createLease(options, { cluster: { objects }, clock, random, logger });
      expect(asked).toEqual([
        { group: 'coordination.k8s.io', version: 'v1', resource: 'leases', kind: 'Lease', namespace: 'apps' },
      ]);
      const controller = new AbortController();
      const ended = lease.run(controller.signal);
      const stop = async (): Promise<void> => {
        controller.abort();
        await ended;
      };
      onTestFinished(() => controller.abort());
      return { lease, stop, lines };
    },
  };
}

const never = (): Promise<void> => new Promise(() => undefined);

describe('a lease that nobody holds', () => {
  test('is created by the first candidate, who holds it', async () => {
    const { clock, leases, join } = stand();
    const { lease, lines } = join('a');
    expect(lease.isHolder()).toBe(false);
    await clock.advance(0);
    expect(lease.isHolder()).toBe(true);
    expect(leases.spec).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-03-09T10:00:00.000000Z',
      renewTime: '2026-03-09T10:00:00.000000Z',
      leaseTransitions: 0,
    });
    expect(lines).toMatchObject([{ level: 30, lease: 'tidy', identity: 'a', msg: 'this process holds the lease' }]);
  });

  test('is created by one of two at the same moment, and the other has no failure to tell', async () => {
    const { clock, leases, join } = stand();
    const [a, b] = [join('a'), join('b')];
    await clock.advance(0);
    expect(leases.log).toEqual(['get', 'get', 'create', 'create']);
    expect([a.lease.isHolder(), b.lease.isHolder()]).toEqual([true, false]);
    expect(b.lines).toEqual([]);
  });

  test('is taken at once where it was given back', async () => {
    const { clock, leases, join } = stand();
    leases.write({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 4, strategy: 'kept' });
    const { lease } = join('a');
    await clock.advance(0);
    expect(lease.isHolder()).toBe(true);
    expect(leases.spec).toMatchObject({ holderIdentity: 'a', leaseTransitions: 5, strategy: 'kept' });
  });
});

describe('the holder', () => {
  test('renews it every two seconds by one request', async () => {
    const { clock, leases, join } = stand();
    const { lease } = join('a');
    await clock.advance(0);
    leases.log.length = 0;
    await clock.advance(60_000);
    expect(leases.log).toEqual(Array.from({ length: 30 }, () => 'replace'));
    expect(lease.isHolder()).toBe(true);
    expect(leases.spec).toMatchObject({
      acquireTime: '2026-03-09T10:00:00.000000Z',
      renewTime: '2026-03-09T10:01:00.000000Z',
      leaseTransitions: 0,
    });
  });

  test('reads it again after a change by others, and goes on', async () => {
    const { clock, leases, join } = stand();
    const { lease, lines } = join('a');
    await clock.advance(0);
    leases.write({ ...leases.spec, note: 'of an operator' });
    await clock.advance(4_000);
    expect(leases.log.slice(-3)).toEqual(['replace', 'get', 'replace']);
    expect(leases.spec).toMatchObject({ holderIdentity: 'a', note: 'of an operator' });
    expect(lease.isHolder()).toBe(true);
    expect(lines.length).toBe(1);
  });

  test.each(['before', 'after'] as const)(
    'stops 10 s after it sent the last renewal: the next hang %s',
    async (when) => {
      const { clock, leases, join } = stand();
      const { lease, lines } = join('a');
      await clock.advance(4_000); // renews at 0, 2 and 4 s
      leases[when] = never;
      await clock.advance(9_999);
      expect(lease.isHolder()).toBe(true);
      await clock.advance(1);
      expect(lease.isHolder()).toBe(false);
      expect(lines.at(-1)).toMatchObject({ level: 40, msg: 'the lease can be neither read nor written' });
      await clock.advance(5_000);
      expect(lines.at(-1)).toMatchObject({ level: 30, msg: 'this process no longer holds the lease' });
    },
  );

  test('counts from when a renewal was sent, not from its answer', async () => {
    const { clock, leases, join } = stand();
    const { lease } = join('a');
    await clock.advance(1_999);
    leases.after = () => clock.sleep(4_000); // sent at 2 s, answered at 6 s
    await clock.advance(4_001);
    leases.before = never;
    await clock.advance(5_999);
    expect(lease.isHolder()).toBe(true);
    await clock.advance(1);
    expect(lease.isHolder()).toBe(false);
  });

  test('renews in time where one request hangs', async () => {
    const { clock, leases, join } = stand();
    const { lease, lines } = join('a');
    await clock.advance(1_000);
    leases.before = () => {
      leases.before = () => Promise.resolve();
      return never();
    };
    for (let second = 0; second < 30; second++) {
      await clock.advance(1_000);
      expect(lease.isHolder()).toBe(true);
    }
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      [30, 'this process holds the lease'],
      [40, 'the lease can be neither read nor written'],
      [30, 'the lease can be read and written again'],
    ]);
  });

  test('is as any candidate once it has stopped, though its renewals arrive: another takes over', async () => {
    const { clock, leases, join } = stand();
    const a = join('a');
    await clock.advance(0);
    const b = join('b');
    leases.after = (request) =>
      request === 'replace' && leases.spec['holderIdentity'] === 'a' ? never() : Promise.resolve();
    for (let second = 0; second < 40; second++) {
      await clock.advance(1_000);
      expect(a.lease.isHolder() && b.lease.isHolder()).toBe(false);
    }
    expect(b.lease.isHolder()).toBe(true);
  });

  test('stops at once when it reads that somebody else holds it', async () => {
    const { clock, leases, join } = stand();
    const { lease } = join('a');
    await clock.advance(0);
    leases.write({ ...leases.spec, holderIdentity: 'b' });
    await clock.advance(2_000);
    expect(lease.isHolder()).toBe(true); // its last renewal still stands: the write was refused, nothing read yet
    await clock.advance(2_000);
    expect(lease.isHolder()).toBe(false);
  });

  test('stops where its machine was suspended, though its monotonic clock stood still', async () => {
    const { clock, join } = stand();
    const { lease } = join('a');
    await clock.advance(0);
    clock.jumpWall(9_999);
    expect(lease.isHolder()).toBe(true);
    clock.jumpWall(1);
    expect(lease.isHolder()).toBe(false);
    await clock.advance(2_000);
    expect(lease.isHolder()).toBe(true);
    clock.jumpWall(-3_600_000);
    expect(lease.isHolder()).toBe(true);
  });

  test('stops where its wall clock was put back meanwhile', async () => {
    const { clock, leases, join } = stand();
    const { lease } = join('a');
    await clock.advance(0);
    leases.before = never;
    clock.jumpWall(-3_600_000);
    await clock.advance(9_999);
    expect(lease.isHolder()).toBe(true);
    await clock.advance(1);
    expect(lease.isHolder()).toBe(false);
  });

  test('gives it back at the end, so that another has it two seconds later', async () => {
    const { clock, leases, join } = stand();
    const a = join('a');
    await clock.advance(0);
    const b = join('b');
    await clock.advance(1_000);
    await a.stop();
    expect(a.lease.isHolder()).toBe(false);
    expect(leases.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    expect(a.lines.at(-1)).toMatchObject({ msg: 'this process no longer holds the lease' });
    await clock.advance(3_200);
    expect(b.lease.isHolder()).toBe(true);
  });

  test('gives it back also when the answer to a renewal is still on its way', async () => {
    const { clock, leases, join } = stand();
    const { stop, lines } = join('a');
    await clock.advance(1_000);
    leases.after = async (request) => {
      leases.after = () => Promise.resolve();
      expect(request).toBe('replace');
      await never();
    };
    await clock.advance(1_000);
    await stop();
    expect(leases.spec['holderIdentity']).toBe('');
    expect(lines.filter(({ level }) => level > 30)).toEqual([]);
  });

  test('ends within two seconds where nobody answers', async () => {
    const { clock, leases, join } = stand();
    const { stop, lines } = join('a');
    await clock.advance(1_000);
    leases.before = never;
    const stopped = stop();
    await clock.advance(2_000);
    await stopped;
    expect(lines.at(-1)).toMatchObject({
      level: 30,
      msg: 'the lease was not given back: others get it when it expires',
    });
  });
});

describe('a candidate', () => {
  const MIDNIGHT = '2020-01-01T00:00:00.000000Z';
  const held = { holderIdentity: 'b', leaseDurationSeconds: 15, acquireTime: MIDNIGHT, renewTime: MIDNIGHT };

  /** How many whole seconds pass until it has the lease. */
  async function seconds({ clock }: Stand, { lease }: Candidate): Promise<number> {
    for (let passed = 0; passed < 60; passed++) {
      if (lease.isHolder()) return passed;
      await clock.advance(1_000);
    }
    return Number.POSITIVE_INFINITY;
  }

  // It tries every 3.2 s: at 16 s for the first time after 15 s.
  test('takes it when it has seen no change for 15 s, whatever time the lease names', async () => {
    const all = stand();
    all.leases.write(held);
    expect(await seconds(all, all.join('a'))).toBe(16);
    const now = '2026-03-09T10:00:16.000000Z';
    const spec = { holderIdentity: 'a', leaseTransitions: 1, acquireTime: now, renewTime: now };
    expect(all.leases.spec).toMatchObject(spec);
  });

  test('waits for as long as the holder asks', async () => {
    const all = stand();
    all.leases.write({ ...held, leaseDurationSeconds: 30 });
    expect(await seconds(all, all.join('a'))).toBe(32);
  });

  test.each([undefined, 0, -1, 601, '30', Number.NaN])(
    'waits 15 s where the holder asks for nothing usable: %s',
    async (leaseDurationSeconds) => {
      const all = stand();
      all.leases.write({ ...held, leaseDurationSeconds });
      expect(await seconds(all, all.join('a'))).toBe(16);
    },
  );

  test('begins to wait anew at each change, also by a holder whose clock stands still', async () => {
    const all = stand();
    all.leases.write(held);
    const a = all.join('a');
    await all.clock.advance(14_000);
    all.leases.write({ ...held, leaseTransitions: 1 });
    expect(await seconds(all, a)).toBe(18); // it reads the change two seconds later
  });

  test('is not kept waiting by changes of something else', async () => {
    const all = stand();
    all.leases.write(held);
    const a = all.join('a');
    await all.clock.advance(14_000);
    all.leases.write(held); // another version, the same content
    expect(await seconds(all, a)).toBe(2);
  });

  test('does not hold what it could not write', async () => {
    const { clock, leases, join } = stand();
    leases.write({ holderIdentity: '' });
    leases.before = (request) =>
      request === 'replace' ? Promise.reject(refusal(403, 'Forbidden')) : Promise.resolve();
    const { lease, lines } = join('a');
    await clock.advance(30_000);
    expect(lease.isHolder()).toBe(false);
    expect(lines.filter(({ level }) => level === 40).length).toBe(1);
  });

  test('writes nothing after it was given up: its read came too late', async () => {
    const { clock, leases, join } = stand();
    leases.write({ holderIdentity: '' });
    leases.before = () => clock.sleep(6_000);
    const { lease } = join('a');
    await clock.advance(60_000);
    expect(leases.log).not.toContain('replace');
    expect(lease.isHolder()).toBe(false);
  });

  test('ends without a request where it never wrote', async () => {
    const { clock, leases, join } = stand();
    leases.write(held);
    const { stop } = join('a');
    await clock.advance(1_000);
    leases.log.length = 0;
    await stop();
    expect(leases.log).toEqual([]);
    expect(leases.spec).toEqual(held);
  });

  test('that has lost it gives back nothing of the other', async () => {
    const { clock, leases, join } = stand();
    const { stop } = join('a');
    await clock.advance(1_000);
    leases.write(held);
    await stop();
    expect(leases.spec).toEqual(held);
  });
});
