import { describe, expect, test } from 'vitest';
import { ListSplitter, UnreadableList } from '../../../../src/gateway/permitted/list-splitter.ts';

const ITEMS = [
  '{"metadata":{"name":"a","namespace":"x"},"text":"},{\\"[ \\\\"}',
  '{ "metadata": {"name":"ü€","annotations":{"items":"[{]"}}, "list":[[],{"rows":[1,2]}] }',
  '{}',
];
const LIST = `{"kind":"PodList","n":-1.5e3, "metadata":{"resourceVersion":"7","continue":"c\\"]"},"items":[${ITEMS.join(' ,\n')}],"last":null}\n`;

/** The parts of the text, when it comes in these chunks. */
function partsOf(chunks: readonly Buffer[]): string[] {
  const parts: string[] = [];
  const splitter = new ListSplitter({
    begin: (array) => void parts.push(`begin ${array}`),
    item: (bytes) => void parts.push(`item ${bytes}`),
    member: (name, value) => void parts.push(`${name} ${value}`),
  });
  for (const chunk of chunks) splitter.write(chunk);
  splitter.end();
  return parts;
}

const WANTED = [
  'kind "PodList"',
  'n -1.5e3',
  'metadata {"resourceVersion":"7","continue":"c\\"]"}',
  'begin items',
  ...ITEMS.map((item) => `item ${item}`),
  'last null',
];

describe('a list that arrives in pieces', () => {
  const whole = Buffer.from(LIST);

  test('is cut into its items and its other members, byte for byte', () => {
    expect(partsOf([whole])).toEqual(WANTED);
  });

  test('is cut in the same way wherever its chunks end', () => {
    for (let at = 1; at < whole.length; at++)
      expect(partsOf([whole.subarray(0, at), whole.subarray(at)])).toEqual(WANTED);
    expect(partsOf([...whole].map((byte) => Buffer.of(byte)))).toEqual(WANTED);
  });

  test('keeps what it holds although the chunk is used again', () => {
    const parts: string[] = [];
    const splitter = new ListSplitter({
      begin: () => undefined,
      item: (bytes) => void parts.push(String(bytes)),
      member: () => undefined,
    });
    const chunk = Buffer.from('{"items":[{"a":');
    splitter.write(chunk);
    chunk.fill(0x20);
    splitter.write(Buffer.from('1}]}'));
    expect(parts).toEqual(['{"a":1}']);
  });

  test('tells the rows of a Table', () => {
    expect(partsOf([Buffer.from('{"rows":[{"cells":[]}],"metadata":{}}')])).toEqual([
      'begin rows',
      'item {"cells":[]}',
      'metadata {}',
    ]);
  });

  test.each([
    ['a cut list', '{"items":[{"a":1}'],
    ['nothing', ''],
    ['text', 'Bad Gateway'],
    ['an array', '[{"a":1}]'],
    ['two lists', '{"items":[]}{"items":[]}'],
    ['items that are no objects', '{"items":["a"]}'],
  ])('%s is not readable', (_, text) => {
    expect(() => partsOf([Buffer.from(text)])).toThrow(UnreadableList);
  });

  test('an item of more than 8 MiB is not readable, however it is cut', () => {
    const piece = Buffer.alloc(1024 * 1024, 0x61);
    const chunks = [Buffer.from('{"items":[{"a":"'), ...Array.from({ length: 9 }, () => piece), Buffer.from('"}]}')];
    expect(() => partsOf(chunks)).toThrow(UnreadableList);
  });
});
