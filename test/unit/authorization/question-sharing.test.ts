import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { RequestAttributes } from '../../../src/authorization/authorizer.ts';
import { createDecisionKeys } from '../../../src/authorization/decision-cache.ts';
import { QuestionSharing } from '../../../src/authorization/question-sharing.ts';
import { decodeQuestions } from '../../../src/authorization/question-text.ts';
import { RecentQuestions } from '../../../src/authorization/recent-questions.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import type { SecretStore, StoredSecret } from '../../../src/secret-store.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitFor } from '../../support/waiting.ts';

const NAME = 'gatehouse-recent-questions';
const SECOND = 1_000;

/** One Secret, which every replica sees at once. */
class OneSecret implements Pick<SecretStore, 'watch' | 'create' | 'update'> {
  readonly writes: Readonly<Record<string, Buffer>>[] = [];
  readonly #watchers = new Set<(secret: StoredSecret | undefined) => void>();
  secret: StoredSecret | undefined;
  fault: Error | undefined;
  hangs = false;
  begun = 0;

  async watch(_: string, onChange: (secret: StoredSecret | undefined) => void, signal: AbortSignal): Promise<void> {
    this.#watchers.add(onChange);
    onChange(this.secret);
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  create = async (_: string, data: StoredSecret['data']) => (this.secret ? 'exists' : this.#write(data));

  update = async (_: string, data: StoredSecret['data'], version: string) =>
    this.secret?.version === version ? this.#write(data) : 'conflict';

  /** Somebody else writes. */
  put(data: StoredSecret['data'] | undefined): void {
    this.secret = data && { data, version: String(Number(this.secret?.version ?? 0) + 1) };
    for (const tell of this.#watchers) tell(this.secret);
  }

  async #write(data: StoredSecret['data']): Promise<StoredSecret> {
    this.begun++;
    if (this.fault) throw this.fault;
    if (this.hangs) return new Promise(() => undefined);
    this.writes.push(data);
    this.put(data);
    return this.secret as StoredSecret;
  }
}

function startAll(count: number) {
  const clock = new FakeClock();
  const secrets = new OneSecret();
  const lines: { level: number; msg: string }[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const stop = new AbortController();
  const startOne = () => {
    const recent = new RecentQuestions(clock);
    const keyOf = createDecisionKeys();
    const running = new QuestionSharing(NAME, { recent, secrets, clock, random: systemRandom, logger }).run(
      stop.signal,
    );
    atEnd(() => {
      stop.abort();
      return running;
    });
    const ask = (name: string, path = '/x'): void => {
      const subject = { name, uid: '', groups: [] };
      const attributes: RequestAttributes = { nonResource: { path, verb: 'get' } };
      recent.allowed(keyOf(subject, attributes), subject, attributes);
    };
    const names = (): string[] => recent.current().map(({ subject }) => subject.name);
    return { recent, ask, names, running };
  };
  const replicas = Array.from({ length: count }, startOne);
  const end = async (): Promise<void> => {
    stop.abort();
    await Promise.all(replicas.map(({ running }) => running));
  };
  /** Lets time pass by seconds until it is so, with a moment of real time: texts are deflated in threads. */
  const until = (isSo: () => boolean): Promise<boolean> =>
    waitFor(isSo, Boolean, { turn: () => clock.advance(SECOND).then(() => sleep(1)), looks: 2_000 });
  return { clock, secrets, lines, replicas, until, end, startOne, one: replicas[0]!, two: replicas.at(-1)! };
}

describe('the sharing of recent questions', () => {
  test('tells the others a question, and keeps what others have written', async () => {
    const { secrets, one, two, until } = startAll(2);
    one.ask('ada');
    two.ask('joe');
    await until(() => one.names().length + two.names().length === 4);
    expect(Object.keys(secrets.secret?.data ?? {}).length).toBe(2);
    expect([one.names().sort(), two.names().sort()]).toEqual([
      ['ada', 'joe'],
      ['ada', 'joe'],
    ]);
    const texts = await Promise.all(Object.values(secrets.secret?.data ?? {}).map(decodeQuestions));
    expect(texts.flatMap((text) => text?.questions.map(({ subject }) => subject.name)).sort()).toEqual(['ada', 'joe']);
  });

  test('R-17 writes at most every 15 s, and nothing while nothing is new', async () => {
    const { clock, secrets, one, until } = startAll(1);
    for (let second = 0; second < 120; second++) {
      one.ask(`user-${second}`);
      await clock.advance(SECOND);
    }
    expect(secrets.writes.length).toBeLessThanOrEqual(8);
    await until(() => !one.recent.hasNews());
    const before = secrets.writes.length;
    await clock.advance(240 * SECOND);
    expect([before > 0, secrets.writes.length]).toEqual([true, before]);
  });

  test('R-17 writes once in five minutes for a user who asks for nine things in turn, for half an hour', async () => {
    const { clock, secrets, one } = startAll(1);
    const writtenAt: number[] = [];
    for (let second = 0; second < 1_800; second++) {
      one.ask('ada', `/${second % 9}`);
      const before = secrets.writes.length;
      await clock.advance(SECOND);
      await sleep(1);
      if (secrets.writes.length > before) writtenAt.push(clock.monotonic());
    }
    const between = writtenAt.slice(1).map((at, index) => at - writtenAt[index]!);
    expect([secrets.writes.length, between.filter((ms) => ms < 290 * SECOND)]).toEqual([6, []]);
  });

  test('removes what is over: its own questions, and those of a replica that has ended', async () => {
    const { clock, secrets, one, until } = startAll(1);
    one.ask('ada');
    await until(() => secrets.writes.length === 1);
    secrets.put({ ...secrets.secret?.data, ended: Buffer.from('of a replica that has ended') });
    await until(() => Object.keys(secrets.secret?.data ?? {}).length === 0);
    expect(clock.monotonic()).toBeGreaterThanOrEqual(600 * SECOND);
    expect(one.names()).toEqual([]);
  });

  test('tells a replica that starts half a minute after somebody deleted the Secret', async () => {
    const { clock, secrets, one, until, startOne } = startAll(1);
    one.ask('ada');
    await until(() => secrets.writes.length === 1);
    secrets.put(undefined);
    for (let second = 0; second < 30; second++) {
      await clock.advance(SECOND);
      await sleep(1);
    }
    const late = startOne();
    await until(() => late.names().includes('ada'));
    expect(clock.monotonic()).toBeLessThan(120 * SECOND);
  });

  test('writes on top of what another one wrote at the same moment', async () => {
    const { secrets, one, two, until, replicas } = startAll(5);
    for (const [index, { ask }] of replicas.entries()) ask(`user-${index}`);
    await until(() => one.names().length === 5 && two.names().length === 5);
    expect(Object.keys(secrets.secret?.data ?? {}).length).toBe(5);
  });

  test('goes no further than twelve replicas, and says so', async () => {
    const { secrets, one, lines, until } = startAll(1);
    const twelve = Array.from({ length: 12 }, (_, index) => [`replica-${index}`, Buffer.from(`${index}`)]);
    secrets.put(Object.fromEntries(twelve));
    one.ask('ada');
    await until(() => lines.some(({ msg }) => msg === 'recent questions cannot be shared'));
    expect(secrets.writes).toEqual([]);
  });

  test('goes on after a failure, logs it once, and survives the removal of the Secret', async () => {
    const { clock, secrets, one, lines, until } = startAll(1);
    secrets.fault = new Error('the cluster is away');
    one.ask('ada');
    await until(() => lines.length > 0);
    await clock.advance(120 * SECOND);
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([[40, 'recent questions cannot be shared']]);
    secrets.fault = undefined;
    await until(() => secrets.writes.length === 1);
    secrets.put(undefined);
    one.ask('joe');
    await until(() => secrets.writes.length === 2);
    const [bytes = Buffer.alloc(0)] = Object.values(secrets.secret?.data ?? {});
    const told = (await decodeQuestions(bytes))?.questions.map(({ subject }) => subject.name);
    expect(told?.sort()).toEqual(['ada', 'joe']);
  });

  test('ends at once while the cluster does not answer', async () => {
    const { secrets, one, until, end, lines } = startAll(1);
    secrets.hangs = true;
    one.ask('ada');
    await until(() => secrets.begun === 1);
    await end();
    expect(lines).toEqual([]);
  });

  test('takes a question of a clock that is ahead for one of now', async () => {
    const { clock, secrets, one, until } = startAll(1);
    const ahead = startAll(1);
    ahead.clock.jumpWall(3_600 * SECOND);
    ahead.one.ask('ada');
    await ahead.until(() => ahead.secrets.writes.length === 1);
    secrets.put(ahead.secrets.secret?.data);
    await until(() => one.names().includes('ada'));
    await clock.advance(600 * SECOND);
    expect(one.names()).toEqual([]);
  });
});
