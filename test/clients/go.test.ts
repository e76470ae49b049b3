import { clusterTool } from '../support/cluster-tools.ts';
import type { Client } from './client-program.ts';
import { holdClients } from './clients-suite.ts';

const program = await clusterTool('goClients');

const CLIENTS: readonly Client[] = [
  {
    name: 'x/oauth2, go-oidc (Go)',
    command: [program, 'oauth2'],
    steps: ['sign-in', 'verify', 'list', 'watch', 'refresh'],
  },
  {
    name: 'client-go, typed, through the gateway',
    command: [program, 'typed'],
    steps: ['sign-in', 'list', 'watch', 'refresh'],
  },
  {
    name: 'client-go, informer, through the gateway',
    command: [program, 'informer'],
    steps: ['sign-in', 'list', 'watch', 'refresh'],
  },
  {
    name: 'client-go, informer, on the node list',
    command: [program, 'live-list'],
    env: { KUBE_FEATURE_WatchListClient: 'true' },
    steps: ['sign-in', 'list', 'watch', 'refresh'],
  },
];

holdClients(CLIENTS);
