import { readFile } from 'node:fs/promises';
import { Agent } from 'undici';

/**
 * A connection pool that trusts the CA in `caFile`, and keeps a quiet watch open. Rejects if the file is missing. It uses HTTP/1.1, like
 * Gatehouse: over HTTP/2, undici joins the values of a repeated header. `servername` is the name in the certificate, if it is not that of
 * the address.
 */
export async function apiDispatcher(caFile?: string, servername?: string): Promise<Agent> {
  const connect = caFile && { ca: await readFile(caFile, 'utf8'), ...(servername && { servername }) };
  return new Agent({ allowH2: false, bodyTimeout: 0, ...(connect && { connect }) });
}
