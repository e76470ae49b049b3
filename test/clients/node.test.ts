import { join } from 'node:path';
import type { Client } from './client-program.ts';
import { holdClients } from './clients-suite.ts';

const programOf = (file: string): string[] => [process.execPath, join(import.meta.dirname, 'node', file)];

const CLIENTS: readonly Client[] = [
  {
    name: 'openid-client (Node)',
    command: programOf('openid-client.ts'),
    steps: ['sign-in', 'verify', 'list', 'refresh'],
  },
];

holdClients(CLIENTS);
