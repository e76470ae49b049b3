import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const MODULE = join(import.meta.dirname, '..', '..', '..', 'src', 'observability', 'buffered-output.ts');

/** Writes so many lines of such a length (the break apart) in one turn, in a process of its own, and then does `then`. */
function write(lines: number, length: number, then: string) {
  const script = `
    import { createBufferedOutput } from ${JSON.stringify(MODULE)};
    const out = createBufferedOutput();
    for (let at = 0; at < ${lines}; at++) out.write(String(at).padEnd(${length}, 'ü') + '\\n');
    ${then}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = { text: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.text += text;
  });
  const expected = Array.from({ length: lines }, (_, at) => `${String(at).padEnd(length, 'ü')}\n`).join('');
  return { child, said, expected };
}

const LIVE_ON = 'setTimeout(() => process.exit(1), 60_000);';

test.each([
  ['many short ones', 5_000, 200],
  ['a few that fill a batch each', 3, 65_536],
])('shows every line, whether or not another follows: %s', async (_, lines, length) => {
  const { child, said, expected } = write(lines, length, LIVE_ON);
  await expect.poll(() => said.text.length).toBe(expected.length);
  expect(said.text).toBe(expected);
  child.kill();
});

test('writes what is left before the process ends, in order', async () => {
  const { child, said, expected } = write(5_000, 200, 'await out.finish(); process.exit(0);');
  const [code] = await once(child, 'close');
  expect([code, said.text]).toEqual([0, expected]);
});

test('writes what is left at once for a process that cannot wait', async () => {
  const { child, said, expected } = write(300, 200, 'out.flushSync(); process.exit(0);');
  const [code] = await once(child, 'close');
  expect([code, said.text]).toEqual([0, expected]);
});
