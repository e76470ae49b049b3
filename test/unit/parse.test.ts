import { describe, expect, test } from 'vitest';
import { parseBooleanWord } from '../../src/runtime/text/boolean-word.ts';

describe('a boolean word', () => {
  test.each(['1', 't', 'T', 'TRUE', 'true', 'True'])('%s is true', (text) => {
    expect(parseBooleanWord(text)).toBe(true);
  });

  test.each(['0', 'f', 'F', 'FALSE', 'false', 'False'])('%s is false', (text) => {
    expect(parseBooleanWord(text)).toBe(false);
  });

  test.each(['', 'tRUE', 'yes', 'on', '2', ' true', 'constructor'])('%j is none', (text) => {
    expect(parseBooleanWord(text)).toBeUndefined();
  });
});
