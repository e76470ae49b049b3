import { describe, expect, test } from 'vitest';
import { rawExchange } from '../http/app-under-test.ts';
import { CLIENT, eventually, type Service } from '../service/stand.ts';
import { startOdd } from './odd-settings.ts';

/** As many sign-ins of as many names, none of which exists, each over a connection of its own. */
async function signInsAtOnce({ gatehouse }: Service, count: number): Promise<{ answers: () => string }> {
  const one = (at: number): string => {
    const body = new URLSearchParams({
      grant_type: 'password',
      ...CLIENT,
      username: `n-${at}`,
      password: 'x',
    }).toString();
    return `POST /oauth/token HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  let answers = '';
  const sent = Array.from({ length: count }, (_, at) => rawExchange(gatehouse.port, one(at)));
  void Promise.all(sent).then((texts) => {
    answers = texts.join('');
  });
  return { answers: () => answers };
}

/** One sign-in is compared, until it is released, and six wait behind it. */
async function startFull() {
  const odd = await startOdd();
  const release = odd.compares.hold();
  const sent = await signInsAtOnce(odd.service, 7);
  await eventually(
    () => odd.service.metric('gatehouse_password_hash_queue_length'),
    (length) => length === 6,
  );
  return { ...odd, release, sent };
}

const occurrences = (text: string, part: string): number => text.split(part).length - 1;
const INCORRECT = '"incorrect password"';
const GATE_FULL = '"auth rate limit exceeded"';
const CLASS_FULL = '"too many sign-ins at once, please try again later"';
const REJECTED = 'gatehouse_password_hash_rejections_total';

const failures = async (service: Service, names: readonly string[]): Promise<number[]> => {
  const statuses: number[] = [];
  for (const name of names) statuses.push((await service.signInAnswer(name, 'wrong')).status);
  return statuses;
};
const strangers = (count: number): string[] => Array.from({ length: count }, (_, at) => `stranger-${at}`);

describe('configured limits of sign-ins', () => {
  test('authentication.authenticateRateLimiterMaxTries: the third failure of a user is refused', async () => {
    const { service } = await startOdd();
    expect(await failures(service, ['ada', 'ada', 'ada', 'joe'])).toEqual([400, 400, 429, 400]);
  });

  test('authentication.authenticateRateLimiterDuration: for 1,033 s', async () => {
    const { service, clock } = await startOdd();
    await failures(service, ['ada', 'ada']);
    expect((await service.signInAnswer('ada', 'wrong')).headers.get('retry-after')).toBe('1033');
    await clock.advance(1_032_999);
    expect(await failures(service, ['ada'])).toEqual([429]);
    await clock.advance(1);
    expect(await failures(service, ['ada'])).toEqual([400]);
  });

  test('authentication.addressRateLimiterMaxTries: the 24th failure of an address is refused', async () => {
    const { service } = await startOdd();
    expect(await failures(service, strangers(24))).toEqual([...Array(23).fill(400), 429]);
  });

  test('authentication.addressRateLimiterDuration: for 107 s', async () => {
    const { service, clock } = await startOdd();
    await failures(service, strangers(23));
    expect((await service.signInAnswer('joe', 'wrong')).headers.get('retry-after')).toBe('107');
    await clock.advance(106_999);
    expect(await failures(service, ['joe'])).toEqual([429]);
    await clock.advance(1);
    expect(await failures(service, ['joe'])).toEqual([400]);
  });

  test('authentication.passwordHash.cost: a name that nobody has costs a compare of cost 11', async () => {
    const { service, compares } = await startOdd();
    await failures(service, ['nobody']);
    expect(compares.stored.map((hash) => hash.slice(0, 7))).toEqual(['$2b$11$']);
  });

  test('authentication.passwordHash.maxCost: a hash of cost 13 is taken, one of 14 is not', async () => {
    const { service, clock } = await startOdd();
    const file = (cost: number) =>
      JSON.stringify({ users: [{ name: 'ada', passwordHash: `$2b$${cost}$${'a'.repeat(53)}` }] });
    const result = (word: string) => () => service.metric(`gatehouse_users_file_reloads_total{result="${word}"}`);
    service.gatehouse.writeUsers(file(13));
    await clock.until(result('ok'), (count) => count === 1);
    service.gatehouse.writeUsers(file(14));
    await clock.until(result('invalid'), (count) => count === 1);
    const [line] = service.logged('the changed users file is not taken: the last good one stays');
    expect(JSON.stringify(line)).toContain('has bcrypt cost 14, but 10 to 13 are accepted');
  });

  test('authentication.passwordGate.concurrency: one compare at once', async () => {
    const { service, clock, compares, release, sent } = await startFull();
    expect(compares.stored).toHaveLength(1);
    expect(await service.metric('gatehouse_password_hashes_in_flight')).toBe(1);
    release();
    await clock.until(sent.answers, (text) => occurrences(text, INCORRECT) === 7);
  });

  test('authentication.passwordGate.queue: six wait behind it, and the next is refused', async () => {
    const { service, clock, compares } = await startOdd();
    const release = compares.hold();
    const sent = await signInsAtOnce(service, 9);
    await eventually(
      () => service.metric(REJECTED),
      (count) => count === 2,
    );
    expect(await service.metric('gatehouse_password_hash_queue_length')).toBe(6);
    release();
    const text = await clock.until(sent.answers, (answers) => answers !== '');
    expect([occurrences(text, INCORRECT), occurrences(text, GATE_FULL)]).toEqual([7, 2]);
  });

  test('authentication.passwordGate.maxWait: for 2.3 s', async () => {
    const { service, clock, release, sent } = await startFull();
    await clock.advance(2_299);
    expect(await service.metric(REJECTED)).toBe(0);
    await clock.advance(1);
    expect(await service.metric(REJECTED)).toBe(6);
    release();
    const text = await clock.until(sent.answers, (answers) => answers !== '');
    expect([occurrences(text, INCORRECT), occurrences(text, GATE_FULL)]).toEqual([1, 6]);
  });

  test('limits.maxSignInsInFlight: the eighteenth at once is refused', async () => {
    const { service, clock, compares } = await startOdd({
      config: { authentication: { passwordGate: { concurrency: 1, queue: 100 } } },
    });
    const release = compares.hold();
    const sent = await signInsAtOnce(service, 18);
    await eventually(
      () => service.metric('gatehouse_http_rejections_total{reason="in_flight_sign-in"}'),
      (count) => count === 1,
    );
    release();
    const text = await clock.until(sent.answers, (answers) => answers !== '');
    expect([occurrences(text, INCORRECT), occurrences(text, CLASS_FULL)]).toEqual([17, 1]);
  });
});
