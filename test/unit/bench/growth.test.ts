import { describe, expect, test } from 'vitest';
import { COSTS, costsOf, costTable, type GrowthRound, type Nature, natureOf } from '../../../bench/growth-costs.ts';
import type { ApiRequest } from '../../../dev/cluster/request.ts';
import { rowOf } from './rows.ts';

const NOTHING = costsOf([]);

function round(replicas: number, people: number, change: Partial<GrowthRound> = {}): GrowthRound {
  const steady = {
    ...NOTHING,
    seconds: 10,
    backgroundReviews: replicas * people,
    bytes: replicas * 1e5,
    processorSeconds: 1,
    reviews: replicas * people + people,
    sessionWrites: people,
    leaseWrites: 5,
    leaseReads: replicas,
    calls: people,
  };
  return {
    replicas,
    people,
    startToReadyMs: [500],
    syncBytes: replicas * 1e6,
    openWatches: replicas * 13,
    openConnections: replicas * 15,
    memory: Array<number>(replicas).fill(1e8),
    arrival: { ...NOTHING, loginWrites: 2 * people, questionWrites: replicas },
    steady,
    answers: people * 30,
    failures: 0,
    ...change,
  };
}

const request = (verb: string, kind: string, change: object = {}): ApiRequest =>
  ({ verb, target: { kind: { plural: kind }, name: '' }, body: Buffer.alloc(0), ...change }) as unknown as ApiRequest;

describe('growth', () => {
  test('counts requests of the API server by what they are for, a new Secret by the name in its body', () => {
    const made = (name: string) => ({ body: Buffer.from(JSON.stringify({ metadata: { name } })) });
    const requests = [
      request('create', 'secrets', made('gatehouse-sessions-1')),
      request('update', 'secrets', { target: { kind: { plural: 'secrets' }, name: 'gatehouse-recent-questions' } }),
      request('get', 'secrets', { target: { kind: { plural: 'secrets' }, name: 'gatehouse-recent-questions' } }),
      request('create', 'loginrecords'),
      request('update', 'leases'),
      request('get', 'leases'),
      request('create', 'subjectaccessreviews'),
      request('get', 'nodes', { impersonation: {} }),
    ];
    const one = {
      reviews: 1,
      sessionWrites: 1,
      questionWrites: 1,
      loginWrites: 1,
      leaseWrites: 1,
      leaseReads: 1,
      calls: 1,
    };
    expect(costsOf(requests)).toEqual(one);
  });

  test('finds what each cost grows with', () => {
    const text = costTable([round(1, 40), round(2, 40), round(16, 40)], round(2, 20));
    for (const { name, nature } of COSTS.filter((cost) => cost.nature)) {
      expect(rowOf(text, `${name} `)).toMatch(new RegExp(`${nature} \\| met$`));
    }
  });

  test('misses a cost that grows where it is said to be flat', () => {
    const more = round(16, 40, { memory: Array<number>(16).fill(2e8) });
    const text = costTable([round(1, 40), round(2, 40), more], round(2, 20));
    expect(rowOf(text, 'memory of one replica')).toMatch(/\| 2\.00 \| 1\.00 \| flat \| MISSED$/);
  });

  test.each<[number, number, Nature | undefined]>([
    [12, 12, 'flat'],
    [8, 12, 'flat'],
    [7, 12, undefined],
    [18, 12, 'flat'],
    [19, 12, undefined],
    [57, 12, undefined],
    [58, 12, 'linear in replicas'],
    [12, 8, 'linear in people'],
    [58, 8, 'linear in both'],
  ])(
    'calls a cost of 12 with 2 replicas that is %d with 16, and %d with half the people, %s',
    (most, fewer, nature) => {
      const of = ({ syncBytes }: GrowthRound): number => syncBytes;
      const cost = (replicas: number, people: number, syncBytes: number) => round(replicas, people, { syncBytes });
      const same = cost(2, 40, 12);
      const replicas = { less: same, more: cost(16, 40, most) };
      const people = { less: cost(2, 20, fewer), more: same };
      expect(natureOf({ name: 'a', of }, replicas, people)).toBe(nature);
    },
  );
});
