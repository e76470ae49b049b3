import { afterEach } from 'vitest';
import { endAll } from './at-end.ts';
import { ownProgram } from './own-program.ts';
import { endWaits } from './waiting.ts';

process.execPath = ownProgram(process.execPath, process.env['PATH']);

// Vitest runs this file again for each test file. A module that test files import runs only once in a process, so a hook in it
// would be only for the first test file.
afterEach(async ({ task }) => {
  try {
    // The waits of tests that run beside each other cannot be told apart: those of the others must go on.
    if (task.result?.state === 'fail' && !task.concurrent) endWaits();
  } finally {
    await endAll();
  }
});
