import type { Bench } from './bench.ts';
import type { PacedReport } from './load/paced.ts';
import type { GatewayPeer } from './peers/gateways.ts';
import { medianBy } from './statistics.ts';
import { count, number, table, verdict } from './table.ts';

/** Calls at the same rate to each server, so that the servers are compared at the same load and not each at its own limit. */
export interface PacedCell {
  readonly peer: string;
  readonly perSecond: number;
  readonly rounds: readonly PacedReport[];
}

/** All servers here can answer this many calls a second beside the load generator on two cores. */
const RATES = [200, 500, 1_000];
/** Enough that a request seldom waits for its connection: at the highest rate each connection is used every 32 ms. */
const CONNECTIONS = 32;
const WARM_UP_MS = 2_000;

/** Target: the latency added to that of the API server. KubeGateway's figure is 0.5 ms at 5,000 calls a second on larger machines. */
const MORE_P50_MS = 0.3;

/** Measures the peers alternately, the first of them being the API server itself. */
export async function measurePaced(
  { generator, note, options }: Bench,
  peers: readonly GatewayPeer[],
  ask: { readonly path: string; readonly headers: Readonly<Record<string, string>> },
): Promise<PacedCell[]> {
  const cells = RATES.flatMap((perSecond) =>
    peers.map((peer) => ({ peer: peer.name, perSecond, rounds: [] as PacedReport[], of: peer })),
  );
  for (let round = 1; round <= options.rounds; round++)
    for (const { peer, perSecond, rounds, of } of cells) {
      const { target, pid } = of;
      const pace = { perSecond, connections: CONNECTIONS, warmUpMs: WARM_UP_MS, measureMs: options.seconds * 1_000 };
      const report = await generator.paced({
        target,
        ...ask,
        ...pace,
        ...(pid === undefined ? {} : { serverPid: pid }),
      });
      note(`round ${round}, ${perSecond}/s, ${peer}: p50 ${number(report.p50Ms)} ms, p99 ${number(report.p99Ms)} ms`);
      rounds.push(report);
    }
  return cells.map(({ of: _, ...cell }) => cell);
}

/** The table of these calls. `ours` is the peer that has a target. */
export function pacedTable(cells: readonly PacedCell[], { direct, ours }: { direct: string; ours: string }): string {
  const rows = cells.map(({ peer, perSecond, rounds }) => {
    const base = cells.find((cell) => cell.peer === direct && cell.perSecond === perSecond)?.rounds ?? [];
    const more = medianBy(
      rounds.map((report, round) => report.p50Ms - (base[round]?.p50Ms ?? Number.NaN)),
      (ms) => ms,
    );
    return [
      `${count(perSecond)}/s, ${peer}`,
      number(medianBy(rounds, (report) => report.perSecond)),
      number(medianBy(rounds, ({ p50Ms }) => p50Ms)),
      number(medianBy(rounds, ({ p99Ms }) => p99Ms)),
      peer === direct ? '' : number(more),
      number(medianBy(rounds, cpuMsPerCall)),
      peer === ours ? `≤ ${MORE_P50_MS} ms more at p50` : '',
      peer === ours ? verdict(more <= MORE_P50_MS) : '',
    ];
  });
  const head = ['', 'sent/s', 'p50 ms', 'p99 ms', 'more at p50 than the API server', 'CPU ms a call', 'target', ''];
  return table(`Latency at the same rate, GET of an object of 10 kB, ${CONNECTIONS} connections`, head, rows);
}

const cpuMsPerCall = ({ serverShare = Number.NaN, perSecond }: PacedReport): number => (serverShare / perSecond) * 1e3;
