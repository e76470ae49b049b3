import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SEED } from '../../support/seed.ts';
import { Comparison } from './comparison.ts';
import { type Contestant, startGatehouseContestant, startPeerContestant } from './contestants.ts';
import { QUESTION_FLOWS, TOKEN_FLOWS } from './plan.ts';
import { mixedPlans, plainPlans } from './plans.ts';

let gatehouse: Contestant;
let peer: Contestant;
let comparison: Comparison;

beforeAll(async () => {
  [gatehouse, peer] = await Promise.all([startGatehouseContestant(), startPeerContestant()]);
  comparison = new Comparison(gatehouse, peer);
  for (const plan of plainPlans(SEED)) await comparison.plain(plan);
  for (const plan of mixedPlans(SEED, TOKEN_FLOWS, 300)) await comparison.mixed(plan);
  for (const plan of mixedPlans(SEED, QUESTION_FLOWS, 60)) await comparison.mixed(plan);
}, 600_000);

afterAll(async () => {
  await gatehouse.stop();
  await peer.stop();
});

/** Each request once to Gatehouse and once to an independent, certified server. */
describe(`R-18 the OAuth endpoints beside oidc-provider (seed ${SEED})`, () => {
  test('are compared by at least 500 requests at the token endpoint and 200 at the others', () => {
    expect(comparison.requests('token')).toBeGreaterThanOrEqual(500);
    expect(comparison.requests('others')).toBeGreaterThanOrEqual(200);
  });

  test('answer alike, or the difference is listed with its reason', () => {
    expect(comparison.unlisted).toEqual([]);
  });

  test('show every difference that is listed', () => {
    expect(comparison.idle()).toEqual([]);
  });

  test('name the first of several faults', () => {
    expect(comparison.outOfOrder).toEqual([]);
  });
});
