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
  {
    name: '@kubernetes/client-node (Node)',
    command: programOf('kubernetes-client-node.ts'),
    steps: ['sign-in', 'list', 'watch', 'refresh'],
  },
  {
    name: 'event-source-polyfill (Node)',
    command: programOf('event-source-polyfill.ts'),
    steps: ['watch'],
  },
  {
    name: 'eventsource (Node)',
    command: programOf('eventsource.ts'),
    steps: ['watch'],
  },
  {
    name: 'reconnecting-eventsource (Node)',
    command: programOf('reconnecting-eventsource.ts'),
    steps: ['watch'],
  },
];

holdClients(CLIENTS);
