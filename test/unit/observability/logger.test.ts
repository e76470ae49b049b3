import { describe, expect, test } from 'vitest';
import { createAuditLogger, createLogger } from '../../../src/observability/logger.ts';

function logged(format: 'json' | 'pretty', write: (log: ReturnType<typeof createLogger>) => void): string[] {
  const lines: string[] = [];
  write(createLogger({ level: 'info', format }, { write: (line) => void lines.push(line) }));
  return lines;
}

/** What a terminal would obey, the end of the line apart. */
const controlCharacters = (line = ''): string[] => line.replace(/\n$/, '').match(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu) ?? [];

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

  test.each(['warn', 'silent'] as const)('keeps the audit trail at its own level beside the level %s', (level) => {
    const lines: string[] = [];
    const logger = createLogger({ level, format: 'json' }, { write: (line) => void lines.push(line) });
    logger.info('left out');
    createAuditLogger(logger, 'info').info({ event: 'sign_in' }, 'sign-in');
    createAuditLogger(logger, 'warn').info({ event: 'sign_in' }, 'left out');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { level: 'info', time: expect.any(String), logger: 'audit', event: 'sign_in', msg: 'sign-in' },
    ]);
  });

  test('A-36 never writes the value of a secret member to the audit trail either', () => {
    const [line] = logged('json', (log) => createAuditLogger(log, 'info').info({ password: 'canary' }, 'x'));
    expect(line).toMatch(/"password":"\[redacted\]"/);
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
    const unruly = 'a\n\u001b[31m\u009b\u0085\u2028\u2029\u202e\u200b\u{e0041}é漢';
    const [line] = logged('pretty', (log) => log.info({ name: unruly, list: [unruly] }, unruly));
    expect(controlCharacters(line)).toEqual([]);
    expect(line).toContain('name="a\\n\\u001b[31m\\u009b\\u0085\\u2028\\u2029\\u202e\\u200b\\udb40\\udc41é漢" ');
  });
});
