import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LineDecoder, LONGEST_LINE_BYTES } from '../../../../src/kubernetes/reflector/event-decoder.ts';
import { atOnce } from '../../../../src/runtime/time-slices.ts';
import { Largest } from '../../../support/largest.ts';
import { checkSizes, type Sizes } from '../../../support/property.ts';

const decode = (chunks: readonly Buffer[]): { lines: string[]; decoder: LineDecoder } => {
  const decoder = new LineDecoder();
  const lines: string[] = [];
  for (const chunk of chunks) atOnce(decoder.push(chunk, (line) => lines.push(line) > 0));
  return { lines, decoder };
};

describe('line decoder', () => {
  test('gives the same lines wherever the chunks are cut, inside a UTF-8 sequence too', () => {
    const letter = fc.constantFrom('a', '"', 'é', '€', '😀', '\r');
    const lineOf = ({ upTo }: Sizes) => fc.array(letter, upTo(40, 1)).map((letters) => letters.join(''));
    const largest = new Largest('the line decoder', 'lines');
    checkSizes((sizes) =>
      fc.property(fc.array(lineOf(sizes), sizes.upTo(60)), fc.array(fc.nat(4_000), sizes.upTo(60)), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        const decoded = decode(chunks);
        expect(decoded.lines).toEqual(lines);
        expect(decoded.decoder.unfinished).toBe(0);
        largest.see(lines.length);
      }),
    );
    largest.expectAtLeast(60);
  });

  test('C-14 keeps a line without an end to itself and says so', () => {
    const { lines, decoder } = decode([Buffer.from('{"a":1}\n{"b"')]);
    expect(lines).toEqual(['{"a":1}']);
    expect(decoder.unfinished).toBe(4);
  });

  test('skips empty lines', () => {
    expect(decode([Buffer.from('\n\na\n\n')]).lines).toEqual(['a']);
  });

  test('stops when the consumer says so', () => {
    const decoder = new LineDecoder();
    const lines: string[] = [];
    const push = (line: string): boolean => lines.push(line) < 2;
    expect(atOnce(decoder.push(Buffer.from('a\nb\nc\n'), push))).toBe('stopped');
    expect(lines).toEqual(['a', 'b']);
  });

  test('C-16 gives up a line over 8 MiB, in one chunk or in many, without keeping more than that', () => {
    const mebibyte = Buffer.alloc(1024 * 1024, 'x');
    const decoder = new LineDecoder();
    const results = Array.from({ length: 9 }, () => atOnce(decoder.push(mebibyte, () => true)));
    expect(results).toEqual([...Array(8).fill('more'), 'too_long']);
    expect(decoder.unfinished).toBe(LONGEST_LINE_BYTES);
    const longest = Buffer.alloc(LONGEST_LINE_BYTES + 1, 'x').fill('\n', LONGEST_LINE_BYTES);
    expect(atOnce(new LineDecoder().push(longest, (line) => line.length !== LONGEST_LINE_BYTES))).toBe('stopped');
    const whole = Buffer.alloc(LONGEST_LINE_BYTES + 2, 'x').fill('\n', LONGEST_LINE_BYTES + 1);
    expect(atOnce(new LineDecoder().push(whole, () => true))).toBe('too_long');
  });
});
