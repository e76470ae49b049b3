import { describe, expect, test } from 'vitest';
import { createLogger } from '../../../src/observability/logger.ts';

function logged(format: 'json' | 'pretty', write: (log: ReturnType<typeof createLogger>) => void): string[] {
  const lines: string[] = [];
  write(createLogger({ level: 'info', format }, { write: (line) => void lines.push(line) }));
  return lines;
}

/** What a terminal would obey, the end of the line apart. */
const controlCharacters = (line = ''): string[] =>
  [...line.trimEnd()].filter((character) => character < ' ' || (character >= '\x7f' && character < '\xa0'));

describe('the logger', () => {
  test('writes one JSON object a line: time, level as a word, members, message', () => {
    const [line = ''] = logged('json', (log) => log.info({ port: 1 }, 'listening'));
    const { time, ...rest } = JSON.parse(line) as Record<string, unknown>;
    expect(rest).toEqual({ level: 'info', port: 1, msg: 'listening' });
    expect(new Date(String(time)).toISOString()).toBe(time);
    expect(line.endsWith('}\n')).toBe(true);
  });

  test('leaves out what is below its level', () => {
    expect(logged('json', (log) => log.debug('too fine'))).toEqual([]);
  });

  test.each([
    'authorization',
    'cookie',
    'password',
    'client_secret',
    'encrypt',
    'access_token',
    'refresh_token',
    'token',
  ])('A-36 never writes the value of %s, on top or one level below', (name) => {
    const lines = logged('json', (log) => log.info({ [name]: 'canary', inner: { [name]: 'canary' } }, 'x')).join('');
    expect(lines).not.toContain('canary');
    expect(lines.match(/\[redacted\]/g)).toHaveLength(2);
  });

  test('A-36 keeps an injected line break inside its line', () => {
    const lines = logged('json', (log) => log.info({ name: 'a\n{"level":"fatal"}\u001b[31m' }, 'x'));
    expect(lines).toHaveLength(1);
    expect(controlCharacters(lines[0])).toEqual([]);
  });

  test('writes for people when asked: time, level, message, members', () => {
    const [line] = logged('pretty', (log) => log.warn({ port: 1, why: 'a b' }, 'careful'));
    expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3} WARN {2}careful port=1 why="a b"\n$/);
  });

  test('A-36 shows control characters to people as escapes', () => {
    const [line] = logged('pretty', (log) => log.info({ name: 'a\n\u001b[31m\u009b' }, 'x\u001b'));
    expect(controlCharacters(line)).toEqual([]);
  });
});
