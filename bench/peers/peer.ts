import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, type FullAnswer, requestBytes, type Target } from '../load/connection.ts';

export type Coding = 'identity' | 'gzip';
export const CODINGS: readonly Coding[] = ['identity', 'gzip'];

/** A server under measurement. */
export interface Peer {
  readonly name: string;
  readonly target: Target;
  /** The list of all nodes. */
  readonly listPath: string;
  /** Unknown for a server that somebody else started. */
  readonly pid?: number;
  stop(): Promise<void>;
}

/** The headers of a list request of the bench. */
export const listHeaders = (coding: Coding): Record<string, string> => ({
  accept: 'application/json',
  'accept-encoding': coding,
});

/** Fetches one list, with the content as it was sent. Rejects when the answer is not 200. */
export async function fetchList(peer: Peer, coding: Coding): Promise<FullAnswer> {
  const connection = await Connection.open(peer.target);
  try {
    const answer = await connection.fetch(
      requestBytes(peer.target, { path: peer.listPath, headers: listHeaders(coding) }),
    );
    if (answer.status !== 200) throw new Error(`the list of ${peer.name} answered ${answer.status}`);
    return answer;
  } finally {
    connection.close();
  }
}

/** The size must not change for this time. On a busy machine one pass of compression may take most of it. */
const SETTLED_MS = 2_000;
const SETTLE_POLL_MS = 250;
const SETTLE_TIMEOUT_MS = 60_000;

/**
 * Fetches the gzip list when its size has not changed for 2 s. Gatehouse compresses in the background, and sends parts that are not
 * compressed yet without compression. The bare server must send the final bytes.
 */
export async function fetchSettledGzip(peer: Peer): Promise<FullAnswer> {
  const giveUpAt = performance.now() + SETTLE_TIMEOUT_MS;
  let last = await fetchList(peer, 'gzip');
  let since = performance.now();
  while (performance.now() < giveUpAt) {
    await sleep(SETTLE_POLL_MS);
    const answer = await fetchList(peer, 'gzip');
    if (answer.bytes !== last.bytes) since = performance.now();
    else if (performance.now() - since >= SETTLED_MS) return answer;
    last = answer;
  }
  throw new Error(`the gzip list of ${peer.name} does not settle`);
}
