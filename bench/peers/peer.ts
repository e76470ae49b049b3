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

/** What a list request of the bench carries. */
export const listHeaders = (coding: Coding): Record<string, string> => ({
  accept: 'application/json',
  'accept-encoding': coding,
});

/** One list, content kept as sent. Rejects when the answer is not 200. */
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
