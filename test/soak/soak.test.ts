import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { SoakResults } from '../../bench/soak.ts';

const PROJECT = join(import.meta.dirname, '..', '..');
const MINUTES = Number(process.env['SOAK_MINUTES'] ?? 2);
const SEED = Number(process.env['SOAK_SEED'] ?? 1);
/** Starting, and the half minute after the last fault. */
const MORE_MS = 300_000;

/** The bench's own soak: 1,000 nodes and 10,000 pods that change, ten probes a second, a fault a minute, an outage of a tenth of the time. */
async function soak() {
  const args = ['bench/main.ts', '--only', 'soak', '--minutes', String(MINUTES), '--seed', String(SEED), '--json'];
  const child = spawn(process.execPath, args, { cwd: PROJECT, stdio: ['ignore', 'pipe', 'inherit'] });
  const { soak: results } = JSON.parse(await text(child.stdout)) as { readonly soak: SoakResults };
  return results;
}

test(
  'R-11 R-19 every probe is answered 200 through faults and an outage, and nothing is left open',
  async () => {
    console.log(`soak: SOAK_MINUTES=${MINUTES} SOAK_SEED=${SEED}`);
    const { probes, faults, before, after } = await soak();
    expect(probes.statuses).toEqual({ '200': MINUTES * 600 });
    expect(faults.some((fault) => fault.startsWith('outage'))).toBe(true);
    expect(after?.all).toBeLessThanOrEqual(before?.all ?? 0);
    expect(after?.sockets).toBeLessThanOrEqual(before?.sockets ?? 0);
  },
  MINUTES * 60_000 + MORE_MS,
);
