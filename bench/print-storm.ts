import { median, quantile } from './statistics.ts';
import type { StormResults } from './storm.ts';
import { count, megabytes, number, percent, table, verdict } from './table.ts';
import { LONGEST_TURN_MS, STORM } from './targets.ts';

/** A storm of events as text: a table with the targets of C-29. */
export function printStorm(storm: StormResults): string {
  const { nodes, pods, seconds, eventsPerSecond, idle, busy, visible, loopDelayMs, turns, serverShare, peakBytes } =
    storm;
  const p99 = quantile(visible.latenciesMs, 0.99);
  const row = (name: string, value: string, target = '–', isMet?: boolean): string[] => [
    name,
    value,
    target,
    isMet === undefined ? '' : verdict(isMet),
  ];
  const loopMost = STORM.loopDelayP99Ms;
  const listMost = STORM.listP99Ratio * idle.p99Ms;
  const rows = [
    row('events a second, for so many seconds', `${number(eventsPerSecond)}, ${number(seconds)}`),
    row('a node change in sight, p50 ms', number(median(visible.latenciesMs))),
    row('a node change in sight, p99 ms', number(p99), `≤ ${count(STORM.visibleP99Ms)}`, p99 <= STORM.visibleP99Ms),
    row('loop delay, p99 ms', number(loopDelayMs), `≤ ${loopMost}`, loopDelayMs <= loopMost),
    row(
      'longest turn, ms of processor time',
      number(turns.longestCpuMs),
      `≤ ${LONGEST_TURN_MS}`,
      turns.longestCpuMs <= LONGEST_TURN_MS,
    ),
    row('… without collections of garbage', number(turns.longestOwnMs)),
    row('page of ten, p50 ms', number(busy.p50Ms), `idle ${number(idle.p50Ms)}`),
    row('page of ten, p99 ms', number(busy.p99Ms), `≤ ${number(listMost)}`, busy.p99Ms <= listMost),
    row('probes answered 200', percent((busy.statuses['200'] ?? 0) / busy.probes)),
    row('its CPU', percent(serverShare)),
    row('resident, peak', megabytes(peakBytes)),
  ];
  const title = `5,000 pod events a second on ${count(nodes)} nodes and ${count(pods)} pods (C-29)`;
  return table(title, ['', 'measured', 'target', ''], rows);
}
