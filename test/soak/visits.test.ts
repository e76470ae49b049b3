import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { VisitResults } from '../../bench/visits.ts';

const PROJECT = join(import.meta.dirname, '..', '..');
const VISITS = Number(process.env['SOAK_VISITS'] ?? 20_000);

/** The bench's own visits, with one short round beside the list: how fast they are is no test's matter. */
async function visit() {
  const options = ['--only', 'visits', '--visits', String(VISITS), '--rounds', '1', '--seconds', '1', '--json'];
  const child = spawn(process.execPath, ['bench/main.ts', ...options], {
    cwd: PROJECT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { visits: results } = JSON.parse(await text(child.stdout)) as { readonly visits: VisitResults };
  return results;
}

/** Anything that is kept of a visit is larger: a state of its own has 25 characters. */
const BYTES_OF_A_VISIT = 64;

test('B-20 R-27 visits of the sign-in page and of the page for devices are all answered, write nothing and leave nothing in memory', async () => {
  const { marks, statuses, written } = await visit();
  expect(Object.keys(statuses)).toEqual(['200']);
  expect(statuses['200']).toBeGreaterThan(VISITS);
  expect(written).toBe(0);
  const [first, , last] = marks;
  const kept = (last?.memory.heapUsed ?? 0) - (first?.memory.heapUsed ?? 0);
  expect(kept).toBeLessThan(((last?.visits ?? 0) - (first?.visits ?? 0)) * BYTES_OF_A_VISIT);
});
