import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Comparison } from './comparison.ts';
import { type Contestant, startGatehouseContestant, startPeerContestant } from './contestants.ts';
import { mixedPlans, plainPlans } from './plans.ts';

/** Another one at each run, printed below; a run that failed is repeated by putting its seed here. */
const SEED = Math.floor(Math.random() * 2 ** 32);

const MIXED_REQUESTS = 250;

let gatehouse: Contestant;
let peer: Contestant;
let comparison: Comparison;

beforeAll(async () => {
  [gatehouse, peer] = await Promise.all([startGatehouseContestant(), startPeerContestant()]);
  comparison = new Comparison(gatehouse, peer);
  for (const plan of plainPlans(SEED)) await comparison.plain(plan);
  for (const plan of mixedPlans(SEED, MIXED_REQUESTS)) await comparison.mixed(plan);
}, 120_000);

afterAll(async () => {
  await gatehouse.stop();
  await peer.stop();
});

/** Each request once to Gatehouse and once to an independent, certified server. */
describe(`R-18 the token endpoint beside oidc-provider (seed ${SEED})`, () => {
  test('is compared by at least 500 requests', () => {
    expect(comparison.requests).toBeGreaterThanOrEqual(500);
  });

  test('answers alike, or the difference is listed with its reason', () => {
    expect(comparison.unlisted).toEqual([]);
  });

  test('shows every difference that is listed', () => {
    expect(comparison.idle()).toEqual([]);
  });

  test('names the first of several faults', () => {
    expect(comparison.outOfOrder).toEqual([]);
  });
});
