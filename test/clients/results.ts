import { appendFileSync } from 'node:fs';
import { inject } from 'vitest';
import type { Step } from './client-program.ts';

/** Notes for the table whether a client did a step; the last note counts. */
export const record = (client: string, step: Step, isGood: boolean): void =>
  appendFileSync(inject('results'), `${JSON.stringify({ client, step, isGood })}\n`);
