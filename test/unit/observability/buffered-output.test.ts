import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMPILE_CACHE } from '../../support/compile-cache.ts';

const MODULE = join(import.meta.dirname, '..', '..', '..', 'src', 'observability', 'buffered-output.ts');

/** Runs this with `out`, the output, in a process of its own. Nobody reads it before `read` is called. */
function run(script: string) {
  const prelude = `
    import { BufferedOutput } from ${JSON.stringify(MODULE)};
    const out = new BufferedOutput(process.stdout.fd, ({ other }) => out.write('lost ' + other + '\\n'));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', prelude + script], {
    env: { ...process.env, ...COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const said = { text: '' };
  const read = (): void => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said.text += text;
    });
  };
  const message = once(child, 'message');
  return { child, said, read, message };
}

/** Writes so many lines of such a length (the break apart) in one turn, and then does `then`. */
function write(lines: number, length: number, then: string) {
  const child = run(`
    for (let at = 0; at < ${lines}; at++) out.write(String(at).padEnd(${length}, 'ü') + '\\n');
    ${then}`);
  const expected = Array.from({ length: lines }, (_, at) => `${String(at).padEnd(length, 'ü')}\n`).join('');
  return { ...child, expected };
}

const LIVE_ON = 'setTimeout(() => process.exit(1), 60_000);';

test.each([
  ['many short ones', 5_000, 200],
  ['a few that fill a batch each', 3, 65_536],
])('shows every line, whether or not another follows: %s', async (_, lines, length) => {
  const { child, said, read, expected } = write(lines, length, LIVE_ON);
  read();
  await expect.poll(() => said.text.length).toBe(expected.length);
  expect(said.text).toBe(expected);
  child.kill();
});

test('writes what is left before the process ends, in order', async () => {
  const { child, said, read, expected } = write(5_000, 200, 'await out.finish(); process.exit(0);');
  read();
  const [code] = await once(child, 'close');
  expect([code, said.text]).toEqual([0, expected]);
});

test('writes what is left at once for a process that cannot wait', async () => {
  const { child, said, read, expected } = write(300, 200, 'out.flushSync(); process.exit(0);');
  read();
  const [code] = await once(child, 'close');
  expect([code, said.text]).toEqual([0, expected]);
});

// At once: an output that nobody reads is waited for a second.
describe.concurrent('while nobody reads', () => {
  /** 40 MB. */
  const MANY = 20_000;
  const LENGTH = 2_000;

  test('keeps 12 MiB, counts what it drops, and tells it where it is missing once somebody reads again', async ({
    expect,
  }) => {
    const { child, said, read, message } = write(
      MANY,
      LENGTH,
      `process.send(out.lost());
      process.on('message', () => out.write('after\\n'));
      ${LIVE_ON}`,
    );
    const [{ other: lost }] = (await message) as [{ other: number }];
    read();
    await expect.poll(() => said.text).toMatch(/\nlost \d+\n$/);
    child.send('somebody reads');
    await expect.poll(() => said.text).toMatch(/\nafter\n$/);
    child.kill();
    const lines = said.text.split('\n').slice(0, -1);
    const kept = lines.slice(0, -2);
    expect(lines.slice(-2)).toEqual([`lost ${lost}`, 'after']);
    expect(kept.length + lost).toBe(MANY);
    expect(kept.map((line) => Number.parseInt(line, 10))).toEqual(kept.map((_, index) => index));
    // One batch more is on its way.
    expect(Math.abs(kept.join('\n').length - 12 * 1024 * 1024)).toBeLessThan(2 * 64 * 1024);
  });

  test.each([
    ['in order', 'await out.finish();'],
    ['by itself', ''],
    ['after a fatal line', 'out.flushSync(); await out.finish();'],
  ])('holds up no end of the process: %s', async (_, end) => {
    const { child } = write(MANY, LENGTH, `process.on('exit', () => out.flushSync()); ${end} process.exit(7);`);
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  test('does not end the process when the reader has gone', async () => {
    const { child, message } = write(
      100,
      200,
      `process.on('exit', () => out.flushSync());
      process.on('message', () => {
        for (let line = 0; line < ${MANY}; line++) out.write('x'.repeat(${LENGTH}));
        out.finish().then(() => process.send(out.lost(), () => process.exit(7)));
      });
      ${LIVE_ON}`,
    );
    child.stdout?.destroy();
    child.send('the reader has gone');
    const [{ other: lost }] = (await message) as [{ other: number }];
    expect(lost).toBeGreaterThan(0);
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  test('a full disk is tried again', async ({ expect }) => {
    const { child, said, read, message } = run(`
      import { openSync } from 'node:fs';
      const full = new BufferedOutput(openSync('/dev/full', 'w'), () => {});
      full.write('a line\\n');
      await full.finish();
      full.flushSync();
      process.send('lives');
      out.write('lives\\n');
      ${LIVE_ON}`);
    read();
    await message;
    await expect.poll(() => said.text).toBe('lives\n');
    child.kill();
  });
});
