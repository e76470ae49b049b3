import { readFile } from 'node:fs/promises';
import { Agent } from 'undici';

/** A connection pool that trusts the CA in `caFile`, and lets a quiet watch stay open. Rejects when it is not there. */
export const apiDispatcher = async (caFile?: string): Promise<Agent> =>
  new Agent({ bodyTimeout: 0, ...(caFile && { connect: { ca: await readFile(caFile, 'utf8') } }) });
