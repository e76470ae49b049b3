import { describe, expect, test } from 'vitest';
import { atEnd } from '../../support/at-end.ts';
import { ODD, startOdd } from '../settings/odd-settings.ts';
import { type Answer, eventually, NODES, passwordOf, type Service } from './stand.ts';

type Odd = Awaited<ReturnType<typeof startOdd>>;

const { limits, authentication } = ODD;

const failing = (service: Service, name: string): Promise<Answer> => service.signInAnswer(name, 'wrong');

/** That many sign-ins of as many names while no compare ends; the one answer that comes before, and all of them. */
async function crowd({ service, clock, compares }: Odd, count: number): Promise<Answer> {
  const release = compares.hold();
  const calls = Array.from({ length: count }, (_, at) => failing(service, `stranger-${at}`));
  const first = await clock.during(Promise.race(calls));
  release();
  await clock.during(Promise.all(calls));
  return first;
}

async function lastOf(count: number, call: (at: number) => Promise<Answer>): Promise<Answer> {
  for (let at = 1; at < count; at++) expect((await call(at)).status).toBeLessThan(429);
  return call(count);
}

/** The head of a watch, which stays open if there is one. */
async function watch({ service }: Odd, token: string): Promise<Answer> {
  const url = `${service.gatehouse.origin}${NODES}?watch=true`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  // `fetch` ends a stream whose Response was garbage-collected, so the Response is kept until the test ends.
  if (answer.status === 200) atEnd(() => answer.body?.cancel());
  const text = answer.status === 200 ? '' : await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: text && JSON.parse(text) };
}

const tokenOf = async ({ service }: Odd, name: string): Promise<string> =>
  (await service.signInAnswer(name, passwordOf('ada'))).body.access_token;

/** Brings each limit to the one call too many, and gives its answer. */
const LIMITS: Readonly<Record<string, (odd: Odd) => Promise<Answer>>> = {
  'failures of a user': ({ service }) => lastOf(3, () => failing(service, 'ada')),
  'failures of an unknown name': ({ service }) => lastOf(3, () => failing(service, 'nobody')),
  'failures of a user at a known address': async ({ service }) => {
    await service.signInAnswer('ada', passwordOf('ada'));
    return lastOf(3, () => failing(service, 'ada'));
  },
  'failures of an address': ({ service }) => lastOf(24, (at) => failing(service, `stranger-${at}`)),
  'sign-ins in the queue': (odd) => crowd(odd, 8),
  'sign-ins that waited too long': async ({ service, clock, compares }) => {
    const release = compares.hold();
    const calls = ['one', 'other'].map((name) => failing(service, name));
    await eventually(
      () => service.metric('gatehouse_password_hash_queue_length'),
      (length) => length === 1,
    );
    await clock.advance(2_300);
    const first = await Promise.race(calls);
    release();
    await Promise.all(calls);
    return first;
  },
  'rotations of a session': async ({ service }) => {
    let { refresh_token: token } = await service.signIn('ada');
    return lastOf(11, async () => {
      const answer = await service.refresh(token);
      token = answer.body.refresh_token ?? token;
      return answer;
    });
  },
  'requests at once': async (odd) => {
    const { service, clock, cluster } = odd;
    const token = await tokenOf(odd, 'ada');
    cluster.faults.until({ kind: 'subjectaccessreviews' }, { connection: 'silence' });
    const calls = Array.from({ length: limits.maxRequestsInFlight + 1 }, () => service.list(token));
    const first = await Promise.race(calls);
    await clock.during(Promise.all(calls));
    return first;
  },
  'watches of a user': async (odd) => {
    const token = await tokenOf(odd, 'ada');
    return lastOf(limits.maxWatchesPerUser + 1, () => watch(odd, token));
  },
  'watches of all users': async (odd) => {
    const tokens = [await tokenOf(odd, 'ada'), await tokenOf(odd, 'joe'), await tokenOf(odd, 'eve')];
    return lastOf(limits.maxWatches + 1, (at) => watch(odd, tokens[at % 3] ?? ''));
  },
};

/** RFC 6585 4: when to come back, in whole seconds, and kept by nobody; in the words of its place. */
function expectRefusal({ status, headers, body }: Answer): void {
  expect(status).toBe(429);
  const seconds = headers.get('retry-after');
  expect(seconds).toMatch(/^[1-9]\d*$/);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('content-type')).toBe('application/json');
  if ('error' in body) {
    expect(Object.keys(body)).toEqual(['error', 'error_description']);
    expect(headers.get('pragma')).toBe('no-cache');
    return;
  }
  const details = { retryAfterSeconds: Number(seconds) };
  expect(body).toEqual({
    ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: expect.any(String) },
    ...{ reason: 'TooManyRequests', details, code: 429 },
  });
}

describe('each limit that is told', () => {
  test.each(Object.entries(LIMITS))('N-51 %s: 429 says when to come back', async (_, trip) => {
    expectRefusal(await trip(await startOdd()));
  });

  test('N-51 sign-ins at once: 429 says when to come back', async () => {
    const passwordGate = { concurrency: 1, queue: 100, maxWait: '10s' };
    const odd = await startOdd({ config: { authentication: { ...authentication, passwordGate } } });
    const answer = await crowd(odd, limits.maxSignInsInFlight + 1);
    expectRefusal(answer);
    expect(answer.body.error).toBe('temporarily_unavailable');
  });
});
