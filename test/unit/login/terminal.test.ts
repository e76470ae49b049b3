import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createTerminal } from '../../../src/cli/login/terminal.ts';
import { FakeClock } from '../../support/fake-clock.ts';

function setUp() {
  const input = Object.assign(new PassThrough(), { isTTY: true, raw: [] as boolean[] });
  const setRawMode = (isRaw: boolean): void => void input.raw.push(isRaw);
  const output = new PassThrough();
  const written: string[] = [];
  output.on('data', (text) => written.push(String(text)));
  const clock = new FakeClock();
  const terminal = createTerminal({ input: Object.assign(input, { setRawMode }), output, clock });
  return { input, clock, terminal, shown: () => written.join('') };
}

describe('the terminal', () => {
  test('K-06 does not show a password, and leaves the terminal as it was', async () => {
    const { input, terminal, shown } = setUp();
    const answer = terminal.ask('Password: ', { isShown: false });
    input.write('canbry');
    await turn();
    input.write('\x7f\x7f\x7fary\r');
    expect(await answer).toBe('canary');
    expect(shown()).toBe('Password: \n');
    expect(input.raw).toEqual([true, false]);
  });

  test('shows a name', async () => {
    const { input, terminal, shown } = setUp();
    const answer = terminal.ask('User: ', { isShown: true });
    input.write('ada\r');
    expect(await answer).toBe('ada');
    expect(shown()).toMatch(/User: .*ada\r\n$/s);
  });

  test.each([
    ['Ctrl-C', '\x03'],
    ['Ctrl-D', '\x04'],
  ])('is interrupted by %s', async (_name, key) => {
    const { input, terminal, shown } = setUp();
    const answer = terminal.ask('Password: ', { isShown: false });
    input.write(key);
    await expect(answer).rejects.toThrow('interrupted: nobody was signed in');
    expect(shown()).toBe('Password: \n');
    expect(input.raw).toEqual([true, false]);
  });

  test('waits for two minutes at most', async () => {
    const { clock, terminal } = setUp();
    const answer = expect(terminal.ask('Password: ', { isShown: false })).rejects.toThrow(
      'nobody has answered for two minutes',
    );
    await clock.advance(120_000);
    await answer;
  });

  test('is not there when standard input is something else', () => {
    const parts = { input: new PassThrough(), output: new PassThrough(), clock: new FakeClock() };
    expect(createTerminal(parts).isThere).toBe(false);
  });
});
