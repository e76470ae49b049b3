import { expect, test } from 'vitest';
import type { Authorizer, Decision, Subject } from '../../../src/authorization/authorizer.ts';
import { createReviewSeats } from '../../../src/authorization/namespace-reviews.ts';
import { createPermittedScopes } from '../../../src/authorization/permitted-scopes.ts';
import { serviceUnavailable } from '../../../src/status-error.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const JOE: Subject = { name: 'joe', uid: 'u-1', groups: [] };
const LIST_PODS = { verb: 'list', group: '', version: 'v1', resource: 'pods' };
const MAX_STALE_MS = 600_000;

/** Scopes over one namespace. A test says what the cluster decides, and when the namespace was made again. */
function makeScopes() {
  const clock = new FakeClock();
  const red = { name: 'red', uid: 'r-1', version: 1 };
  const judge: { decide: () => Decision | Promise<Decision>; asked: number } = {
    decide: () => ({ allowed: true, source: 'review' }),
    asked: 0,
  };
  const authorizer: Authorizer = {
    authorize: async () => {
      judge.asked++;
      return judge.decide();
    },
  };
  const scopes = createPermittedScopes({
    ...{ authorizer, clock, seats: createReviewSeats(), maxStaleMs: MAX_STALE_MS },
    namespaces: { version: () => red.version, all: () => [{ name: red.name, uid: red.uid }] },
  });
  const names = async (subject = JOE): Promise<string[]> => {
    const { names: permitted } = await scopes.scopeOf(subject, LIST_PODS, new AbortController().signal);
    return [...permitted];
  };
  return { clock, red, judge, scopes, names };
}

test('a scope made of old decisions holds no longer in an outage than these', async () => {
  const { clock, judge, names } = makeScopes();
  expect(await names()).toEqual(['red']);
  await clock.advance(MAX_STALE_MS - 60_000);
  judge.decide = () => ({ allowed: true, source: 'stale' });
  expect(await names()).toEqual(['red']);
  await clock.advance(70_000);
  judge.decide = () => {
    throw serviceUnavailable('authorization is not available', 5);
  };
  await expect(names()).rejects.toMatchObject({ answer: { code: 503 } });
});

test('a user who is forgotten during a round of reviews is asked about again, also for those who wait', async () => {
  const { judge, scopes, names } = makeScopes();
  const { promise, resolve } = Promise.withResolvers<Decision>();
  judge.decide = () => promise;
  const waiting = names();
  await Promise.resolve();
  judge.decide = () => ({ allowed: false, source: 'review' });
  scopes.forget('joe');
  expect(await names()).toEqual([]);
  resolve({ allowed: true, source: 'review' });
  expect([await waiting, await names()]).toEqual([[], []]);
});

test('a review of a namespace that is made again meanwhile says nothing about the new one', async () => {
  const { clock, red, judge, names } = makeScopes();
  const { promise, resolve } = Promise.withResolvers<Decision>();
  judge.decide = () => promise;
  const first = names();
  await Promise.resolve();
  Object.assign(red, { uid: 'r-2', version: 2 });
  const second = names();
  judge.decide = () => ({ allowed: false, source: 'review' });
  resolve({ allowed: true, source: 'review' });
  await Promise.all([first, second]);
  expect(await names()).toEqual([]);
  await clock.advance(1);
  expect([await names(), judge.asked]).toEqual([[], 2]);
});

test('scopes of few namespaces are counted too: the one that was used longest ago is forgotten', async () => {
  const { clock, judge, names } = makeScopes();
  const people = 13_000;
  for (let person = 0; person < people; person++) await names({ ...JOE, name: `joe-${person}` });
  await clock.advance(2_000);
  await names({ ...JOE, name: `joe-${people - 1}` });
  expect(judge.asked).toBe(people);
  await names({ ...JOE, name: 'joe-0' });
  expect(judge.asked).toBe(people + 1);
});
