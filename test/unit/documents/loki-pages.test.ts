import { describe, expect, test } from 'vitest';
import type { LokiEntry } from '../../../src/documents/loki/loki-answer.ts';
import { type EntriesRequest, pagesOf } from '../../../src/documents/loki/loki-pages.ts';
import { AnswerTooLong } from '../../../src/runtime/send-request.ts';
import { StoreError, TooLongAnswer } from '../../../src/stores/store-error.ts';

const START = 1_000n;
const STREAMS = ['a', 'b', 'c'];

const entry = (at: bigint, stream: string): LokiEntry => ({ at, stream, line: `${stream} ${at}`, labels: {} });
/** So many lines of each of three streams, all three of one time. */
const ofThree = (times: number): LokiEntry[] =>
  Array.from({ length: times }, (_, at) => STREAMS.map((stream) => entry(START + BigInt(at), stream))).flat();
/** So many lines of one time. */
const ofOneTime = (count: number, at = START): LokiEntry[] =>
  Array.from({ length: count }, (_, index) => ({ ...entry(at, 'a'), line: `${index}` }));

interface Options {
  readonly order?: 'asc' | 'desc';
  readonly first: number;
  readonly most: number;
  /** Told of each question before its answer. */
  readonly fault?: (question: EntriesRequest) => void;
}

/** The lines that are found in a Loki that has these, and the limits of the questions for them. */
async function read(entries: readonly LokiEntry[], { order = 'desc', first, most, fault = () => {} }: Options) {
  const limits: number[] = [];
  const lines: string[] = [];
  const ask = async (question: EntriesRequest): Promise<readonly LokiEntry[]> => {
    limits.push(question.limit);
    if (limits.length > 100) throw new Error('it asks for ever');
    fault(question);
    // Of lines of one time, those of another stream come first each time.
    const rank = ({ stream }: LokiEntry): number => (STREAMS.indexOf(stream) + limits.length) % STREAMS.length;
    const within = entries.filter(({ at }) => at >= question.start && at < question.end);
    const sorted = within.toSorted((a, b) => Number(order === 'asc' ? a.at - b.at : b.at - a.at) || rank(a) - rank(b));
    return sorted.slice(0, question.limit);
  };
  for await (const page of pagesOf({ start: START, end: START + 1_000n, order, first, most, ask }))
    lines.push(...page.map(({ line }) => line));
  return { lines, limits };
}

const tooLong = (): never => {
  throw new StoreError('refused', 'the answer is too long', new AnswerTooLong(200, 1));
};

/** Loki itself gave up. */
const tooLongThere = (): never => {
  throw new TooLongAnswer('the log store', '', undefined);
};

describe('the lines of a span of Loki', () => {
  // An answer ends with one line of a time, with two of the three, or with all.
  test.each([
    ['asc', 3, 6],
    ['asc', 4, 7],
    ['desc', 3, 6],
    ['desc', 4, 7],
    ['desc', 5, 8],
  ] as const)(
    'L-07 are each there once, in the order of time and then of streams, wherever an answer ends: %s, %i and %i wanted',
    async (order, first, most) => {
      const all = ofThree(20).map(({ line }) => line);
      const { lines, limits } = await read(ofThree(20), { order, first, most });
      expect(lines).toEqual(order === 'asc' ? all : all.toReversed());
      expect(limits[0]).toBe(first + 1);
      expect(Math.max(...limits)).toBe(most + 1);
    },
  );

  test('are asked for once where there are fewer than wanted', async () => {
    expect(await read(ofThree(1), { first: 3, most: 3 })).toEqual({
      lines: [`c ${START}`, `b ${START}`, `a ${START}`],
      limits: [4],
    });
  });

  test.each([
    ['for us', tooLong],
    ['for the store itself', tooLongThere],
  ])('L-10 are asked for in smaller pieces from an answer on that is too long %s', async (_, fail) => {
    const fault = ({ limit }: EntriesRequest): void => void (limit > 10 && fail());
    const { lines, limits } = await read(ofThree(5), { first: 20, most: 20, fault });
    expect(lines.length).toBe(15);
    expect(limits.slice(0, 2)).toEqual([21, 5]);
    expect(new Set(limits.slice(1))).toEqual(new Set([5]));
  });

  test('are refused where one is too long, with the one more that is asked for', async () => {
    const reading = read(ofThree(5), { first: 20, most: 20, fault: tooLong });
    await expect(reading).rejects.toMatchObject({
      kind: 'refused',
      message: 'the lines of the log store are too long',
    });
  });

  test('L-14 are asked for one by one where two of them are too long', async () => {
    const fault = ({ limit }: EntriesRequest): void => void (limit > 2 && tooLong());
    const all = Array.from({ length: 7 }, (_, at) => entry(START + BigInt(at), 'a'));
    const { lines, limits } = await read(all, { first: 500, most: 500, fault });
    expect(lines).toEqual(all.map(({ line }) => line).reverse());
    expect(limits.slice(0, 6)).toEqual([501, 125, 31, 7, 2, 2]);
  });

  test.each([
    ['of the store', new StoreError('away', 'no answer')],
    ['of ours', new AnswerTooLong(200, 1)],
  ])('are not asked for again after another failure: %s', async (_, error) => {
    const fault = (): never => {
      throw error;
    };
    await expect(read(ofThree(5), { first: 20, most: 20, fault })).rejects.toBe(error);
  });

  test('are found where more of them have one time than are wanted', async () => {
    const { lines, limits } = await read([...ofOneTime(100), ...ofOneTime(1, START + 5n)], { first: 10, most: 20 });
    expect([lines.length, limits]).toEqual([101, [11, 21, 84, 336]]);
  });

  test('are refused where Loki gives no more of one time', async () => {
    const reading = read(ofOneTime(5_000), { first: 20, most: 20 });
    const message = '5000 lines or more have one time; ask for another time';
    await expect(reading).rejects.toMatchObject({ kind: 'refused', message });
  });

  test('are refused where more of one time are too long', async () => {
    const fault = ({ limit }: EntriesRequest): void => void (limit > 10 && tooLong());
    const reading = read(ofOneTime(10), { first: 20, most: 20, fault });
    const message = '5 lines or more have one time; ask for another time';
    await expect(reading).rejects.toMatchObject({ kind: 'refused', message });
  });
});
