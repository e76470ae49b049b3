import { afterEach } from 'vitest';
import { endAll } from './at-end.ts';

// Vitest runs this file anew for each test file. A module that test files share is run once a process, so a hook in it would be for the first of them alone.
afterEach(endAll);
