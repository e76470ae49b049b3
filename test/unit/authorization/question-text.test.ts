import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeQuestions, encodeQuestions, type SharedText } from '../../../src/authorization/question-text.ts';
import { checkAsync } from '../../support/property.ts';

const word = fc.string({ unit: 'grapheme', maxLength: 40, size: 'max' });
const attributes = fc.oneof(
  fc.record({ nonResource: fc.record({ path: word, verb: word }) }),
  fc.record({
    resource: fc.record(
      { verb: word, group: word, version: word, resource: word, subresource: word, namespace: word, name: word },
      { requiredKeys: ['verb', 'group', 'version', 'resource'], noNullPrototype: true },
    ),
  }),
);
const someWord = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40, size: 'max' });
const subject = fc.record({ name: someWord, uid: word, groups: fc.array(someWord, { maxLength: 5, size: 'max' }) });
const ageMs = fc.integer({ min: 0, max: 600 }).map((seconds) => seconds * 1000);
const told = fc.record({
  writtenAtMs: fc.nat(2 ** 42),
  questions: fc.array(fc.record({ subject, attributes, ageMs }), { maxLength: 30, size: 'max' }),
});

const bySubject = ({ questions }: SharedText) =>
  questions.map((question) => JSON.stringify(question, Object.keys(question).sort())).sort();
const asText = (value: unknown): Buffer => deflateRawSync(JSON.stringify(value));
/** Letters that follow no rule, so that they cannot be deflated to less than three quarters. */
const unlike = (index: number, bytes: number): string =>
  createHash('shake256', { outputLength: bytes }).update(`${index}`).digest('base64');
const question = [7, 'get', 'g', 'v1', 'nodes', null, null, 'a'];
const row = ['ada', '1', ['staff'], [question]];

describe('the text of recent questions', () => {
  test('says the same again when it is read', async () => {
    await checkAsync(
      fc.asyncProperty(told, async (before) => {
        const { bytes, count } = await encodeQuestions(before);
        const after = (await decodeQuestions(bytes)) as SharedText;
        expect(count).toBe(before.questions.length);
        expect(after.writtenAtMs).toBe(before.writtenAtMs);
        expect(after.questions.length).toBe(before.questions.length);
        expect(new Set(bySubject(after))).toEqual(new Set(bySubject(before)));
        for (const one of before.questions) expect(after.questions).toContainEqual(one);
      }),
    );
  });

  test('is read or refused, whatever it is: nothing is thrown', async () => {
    const hostile = fc.oneof(
      fc.uint8Array({ maxLength: 200, size: 'max' }).map((bytes) => Buffer.from(bytes)),
      fc.uint8Array({ maxLength: 200, size: 'max' }).map((bytes) => deflateRawSync(bytes)),
      fc.jsonValue({ maxDepth: 6 }).map(asText),
      fc.tuple(fc.constantFrom(0, 1, 2), fc.jsonValue(), fc.jsonValue({ maxDepth: 6 })).map(asText),
      fc
        .array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 9, size: 'max' })
        .map((one) => asText([1, 0, [['a', '', [], [one]]]])),
    );
    await checkAsync(
      fc.asyncProperty(hostile, async (bytes) => {
        for (const { subject, attributes, ageMs } of (await decodeQuestions(bytes))?.questions ?? []) {
          const words = [subject.name, subject.uid, ...subject.groups];
          expect(words.every((one) => typeof one === 'string')).toBe(true);
          expect([subject.name, ...subject.groups]).not.toContain('');
          expect(Object.keys(attributes)).toHaveLength(1);
          expect(ageMs >= 0 && ageMs <= 600_000).toBe(true);
        }
      }),
      { cases: 500, short: 150 },
    );
  });

  test('is read in this form, which replicas of other releases write', async () => {
    const read = await decodeQuestions(
      asText([1, 1_700_000_000_000, [[...row.slice(0, 3), [question, [0, '/x', 'get']]]]]),
    );
    const ada = { name: 'ada', uid: '1', groups: ['staff'] };
    const resource = { verb: 'get', group: 'g', version: 'v1', resource: 'nodes', name: 'a' };
    expect(read).toEqual({
      writtenAtMs: 1_700_000_000_000,
      questions: [
        { subject: ada, attributes: { resource }, ageMs: 7_000 },
        { subject: ada, attributes: { nonResource: { path: '/x', verb: 'get' } }, ageMs: 0 },
      ],
    });
  });

  test.each<[string, unknown]>([
    ['another version', [2, 0, []]],
    ['a version as text', ['1', 0, []]],
    ['an object', { version: 1 }],
    ['one member too many', [1, 0, [], []]],
    ['a time that is no number', [1, 'now', []]],
    ['a subject without questions', [1, 0, [['ada', '1', []]]]],
    ['a subject whose groups are no list', [1, 0, [['ada', '1', 'staff', [question]]]]],
    ['a group that is no text', [1, 0, [['ada', '1', [1], [question]]]]],
    ['a name of 4,097 letters', [1, 0, [['a'.repeat(4_097), '1', [], [question]]]]],
    ['a subject that is null', [1, 0, [null]]],
    ['a subject with a member too many', [1, 0, [[...row, 'more']]]],
    ['a question that is null', [1, 0, [['ada', '1', [], [null]]]]],
    ['a path that is no text', [1, 0, [['ada', '1', [], [[7, 1, 'get']]]]]],
    ['the verb of a path that is null', [1, 0, [['ada', '1', [], [[7, '/x', null]]]]]],
    ['a question in the future', [1, 0, [['ada', '1', [], [[-1, ...question.slice(1)]]]]]],
    ['a question of last week', [1, 0, [['ada', '1', [], [[601, ...question.slice(1)]]]]]],
    ['a question with a member too few', [1, 0, [['ada', '1', [], [question.slice(0, 7)]]]]],
    ['a verb that is null', [1, 0, [['ada', '1', [], [[7, null, ...question.slice(2)]]]]]],
    ['a subject whose questions are none', [1, 0, [['ada', '1', [], []]]]],
    ['a name without letters', [1, 0, [['', '1', ['staff'], [question]]]]],
    ['a group without letters', [1, 0, [['ada', '1', ['staff', ''], [question]]]]],
    ['201 groups', [1, 0, [['ada', '1', Array.from({ length: 201 }, () => 'g'), [question]]]]],
    ['a subject of 4,097 letters', [1, 0, [['a'.repeat(4_000), '1', ['g'.repeat(95)], [question]]]]],
    ['2,001 questions of one subject', [1, 0, [['ada', '1', [], Array.from({ length: 2_001 }, () => question)]]]],
    ['2,001 questions', [1, 0, Array.from({ length: 2_001 }, () => row)]],
  ])('is refused with %s', async (_, value) => {
    expect(await decodeQuestions(asText(value))).toBeUndefined();
  });

  test.each<[string, string, string[]]>([
    ['a name of 4,095 letters and a uid of one', 'a'.repeat(4_095), []],
    ['a name and a group of 4,095 letters with the end of the group', 'a'.repeat(4_000), ['g'.repeat(94)]],
    ['200 groups', 'ada', Array.from({ length: 200 }, () => 'g')],
  ])('is read with %s', async (_, name, groups) => {
    const read = await decodeQuestions(asText([1, 0, [[name, '1', groups, [question]]]]));
    expect(read?.questions.map(({ subject }) => subject)).toEqual([{ name, uid: '1', groups }]);
  });

  test('is refused with 330,000 empty groups and 1,999 questions, which are 6.5 KB', async () => {
    const groups = Array.from({ length: 330_000 }, () => '');
    const asked = Array.from({ length: 1_999 }, (_, index) => [0, `/${index}`, 'get']);
    const bytes = asText([1, 0, [['eve', '1', groups, asked]]]);
    const text = inflateRawSync(bytes);
    expect([bytes.length < 64 * 1024, text.length < 1024 * 1024]).toEqual([true, true]); // no other limit refuses it
    expect(await decodeQuestions(bytes)).toBeUndefined();
  });

  test('is refused when it inflates to more than a megabyte, or is no UTF-8', async () => {
    expect(await decodeQuestions(asText([1, 0, [['a'.repeat(1024 * 1024), '', [], []]]]))).toBeUndefined();
    expect(await decodeQuestions(deflateRawSync(Buffer.from([0x5b, 0xff, 0x5d])))).toBeUndefined();
  });

  test('is refused with more than 64 KiB, whatever is in them', async () => {
    const stored = (length: number): Buffer => deflateRawSync(JSON.stringify([1, 0, []]).padEnd(length), { level: 0 });
    const length = 64 * 1024 - (stored(65_500).length - 65_500); // what is only stored has a head
    expect(stored(length).length).toBe(64 * 1024);
    expect(await decodeQuestions(stored(length))).toEqual({ writtenAtMs: 0, questions: [] });
    expect(await decodeQuestions(stored(length + 1))).toBeUndefined();
  });

  test('leaves the last ones out when all are more than 64 KiB', async () => {
    const questions = Array.from({ length: 3_000 }, (_, index) => ({
      // Letters that follow no rule, so that they cannot be deflated.
      subject: { name: `user-${index}`, uid: (index * 2_654_435_761 ** 2).toString(36).repeat(6), groups: [] },
      attributes: { nonResource: { path: `/${(index * 1_597_334_677 ** 2).toString(36)}`, verb: 'get' } },
      ageMs: 0,
    }));
    const { bytes, count } = await encodeQuestions({ writtenAtMs: 0, questions });
    expect(bytes.length).toBeLessThanOrEqual(64 * 1024);
    expect(inflateRawSync(bytes).length).toBeLessThanOrEqual(1024 * 1024);
    expect(count).toBeGreaterThan(500);
    expect((await decodeQuestions(bytes))?.questions.map(({ subject }) => subject.name)).toEqual(
      questions.slice(0, count).map(({ subject }) => subject.name),
    );
  });

  // 95 % of what would fit if all were as long as the ones of the first try, and nine tenths of the first try at most.
  test.each<[string, number, number, (index: number) => string]>([
    ['64 KiB, by far', 100, 41, (index) => unlike(index, 1_500)],
    ['64 KiB, by little', 90, 81, (index) => unlike(index, 740)],
    ['a megabyte of text', 350, 247, (index) => `${index}`.padEnd(4_000, 'x')],
  ])('has room to spare after a second try when all are more than %s', async (_, all, kept, nameOf) => {
    const questions = Array.from({ length: all }, (__, index) => ({
      subject: { name: nameOf(index), uid: '', groups: [] },
      attributes: { nonResource: { path: '/x', verb: 'get' } },
      ageMs: 0,
    }));
    const { bytes, count } = await encodeQuestions({ writtenAtMs: 0, questions });
    expect(count).toBe(kept);
    expect(bytes.length).toBeLessThanOrEqual(64 * 1024);
    expect((await decodeQuestions(bytes))?.questions.length).toBe(kept);
  });
});
