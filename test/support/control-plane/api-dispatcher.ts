import { readFile } from 'node:fs/promises';
import { Agent } from 'undici';

/**
 * A connection pool that trusts the CA in `caFile`, and lets a quiet watch stay open. Rejects when it is not there. By
 * HTTP/1.1, as ours: over HTTP/2, undici joins the values of a header that is sent more than once. `servername` is the name
 * in the certificate where it is not that of the address.
 */
export async function apiDispatcher(caFile?: string, servername?: string): Promise<Agent> {
  const connect = caFile && { ca: await readFile(caFile, 'utf8'), ...(servername && { servername }) };
  return new Agent({ allowH2: false, bodyTimeout: 0, ...(connect && { connect }) });
}
