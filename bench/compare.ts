import type { Generator } from './load/generator.ts';
import type { LoadPlan, LoadReport } from './load/load.ts';
import type { Note } from './note.ts';
import { CODINGS, type Coding, listHeaders, type Peer } from './peers/peer.ts';
import type { Cell } from './results.ts';
import { number } from './table.ts';

const CONNECTIONS = 8;
const WARM_UP_MS = 1_000;
/** Bounds the memory of the generator; no server here gets so far in the seconds of a round. */
const MAX_REQUESTS = 1_000_000;

export interface Extent {
  readonly seconds: number;
  readonly rounds: number;
}

/** The plan for one peer and coding. */
export const listPlan = (peer: Peer, coding: Coding, seconds: number): LoadPlan => ({
  target: peer.target,
  path: peer.listPath,
  headers: listHeaders(coding),
  connections: CONNECTIONS,
  warmUpMs: WARM_UP_MS,
  measureMs: seconds * 1_000,
  maxRequests: MAX_REQUESTS,
  ...(peer.pid === undefined ? {} : { serverPid: peer.pid }),
});

/**
 * Unmeasured, before the first round: a list of 12 MB is asked for a hundred times a second, and at that pace a new Node
 * process runs half-compiled code for minutes. The small answers of gzip warm it in seconds, the bare server alike.
 */
const HEAT_SECONDS = 3;

/** Measures the peers in turn, A B A B: what else the machine does falls on all of them alike. */
export async function compare(
  peers: readonly Peer[],
  { seconds, rounds }: Extent,
  parts: { generator: Generator; note: Note },
): Promise<Cell[]> {
  const found = new Map<string, LoadReport[]>();
  for (const peer of peers) await parts.generator.load(listPlan(peer, 'gzip', HEAT_SECONDS));
  for (let round = 1; round <= rounds; round++)
    for (const coding of CODINGS)
      for (const peer of peers) {
        const report = await parts.generator.load(listPlan(peer, coding, seconds));
        parts.note(`round ${round}, ${coding}, ${peer.name}: ${number(report.requestsPerSecond)} requests/s`);
        const key = cellKey(peer.name, coding);
        found.set(key, [...(found.get(key) ?? []), report]);
      }
  return CODINGS.flatMap((coding) =>
    peers.map((peer) => ({ peer: peer.name, coding, rounds: found.get(cellKey(peer.name, coding)) ?? [] })),
  );
}

const cellKey = (peer: string, coding: Coding): string => `${peer} ${coding}`;
