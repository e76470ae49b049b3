import { join } from 'node:path';
import { pythonWith } from '../support/python-environment.ts';
import type { Client } from './client-program.ts';
import { holdClients } from './clients-suite.ts';

const programOf = (file: string): string => join(import.meta.dirname, 'python', file);

const PYTHON = await pythonWith('clients', programOf('requirements.txt'));
const env = { PYTHONDONTWRITEBYTECODE: '1' };

const CLIENTS: readonly Client[] = [
  {
    name: 'requests-oauthlib, PyJWT (Python)',
    command: [PYTHON, programOf('requests_oauthlib_client.py')],
    env,
    steps: ['sign-in', 'verify', 'list', 'refresh'],
  },
  {
    name: 'Authlib, joserfc (Python)',
    command: [PYTHON, programOf('authlib_client.py')],
    env,
    steps: ['sign-in', 'verify', 'list', 'refresh'],
  },
  {
    name: 'kubernetes (Python)',
    command: [PYTHON, programOf('kubernetes_client.py')],
    env,
    steps: ['sign-in', 'list', 'watch', 'refresh'],
  },
];

holdClients(CLIENTS);
