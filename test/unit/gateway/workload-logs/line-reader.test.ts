import { expect, test } from 'vitest';
import { LineReader } from '../../../../src/gateway/workload-logs/line-reader.ts';

const TIME = '2026-01-02T03:04:05.123456789Z';

test('lines are the same, however their bytes are cut into pieces', () => {
  const bytes = Buffer.from(`${TIME} one ü\n${TIME} \n\n${TIME}\nno time\r\n${TIME}  two\r\n`);
  const whole = new LineReader().read(bytes);
  expect(whole.map(({ time, text }) => `${time}|${text}`)).toEqual([
    `${TIME}|one ü`,
    `${TIME}|`,
    '|',
    `${TIME}|`,
    '|no time',
    `${TIME}| two`,
  ]);
  for (const size of [1, 2, 3, 7, 31]) {
    const reader = new LineReader();
    const lines = [];
    for (let at = 0; at < bytes.length; at += size) lines.push(...reader.read(bytes.subarray(at, at + size)));
    expect(lines).toEqual(whole);
    expect(reader.end()).toEqual([]);
  }
});

test('the end of a log ends its last line', () => {
  const reader = new LineReader();
  expect(reader.read(Buffer.from(`${TIME} half a li`))).toEqual([]);
  expect(reader.end()).toEqual([{ time: TIME, text: 'half a li', leftOut: 0 }]);
  expect(reader.end()).toEqual([]);
});

test('of a line that never ends 64 KiB are kept', () => {
  const reader = new LineReader();
  for (let count = 0; count < 100; count++) reader.read(Buffer.alloc(64 * 1024, 'x'));
  const [line] = reader.end();
  expect([line?.text.length, line?.leftOut]).toEqual([65_536, 99 * 65_536]);
});
