import type { Panel } from '../../dev/monitoring/panel.ts';
import { ROWS } from '../../dev/monitoring/panels.ts';
import type { Line } from '../../dev/monitoring/picture.ts';
import type { Prometheus } from './prometheus.ts';

/** What each panel gets from Prometheus, and the queries that got no number. */
export class Answers extends Map<Panel, readonly Line[]> {
  readonly withoutData = new Map<Panel, readonly string[]>();
}

/** What Grafana puts in place of `$__rate_interval` with a scrape each 30 s. */
const RATE_INTERVAL = '2m';

/** Asks every query of the dashboard as Grafana would, for these pods and the last `minutes` of what was recorded. */
export async function askPanels(
  prometheus: Prometheus,
  { pods, minutes }: { readonly pods: string; readonly minutes: number },
): Promise<Answers> {
  const filled = (expr: string): string =>
    expr
      .replaceAll('$namespace', 'gatehouse-system')
      .replaceAll('$pod', pods)
      .replaceAll('$__rate_interval', RATE_INTERVAL);
  const answers = new Answers();
  for (const panel of ROWS.flatMap(({ panels }) => panels)) {
    const asked = await Promise.all(
      panel.queries.map(async ({ expr, legend }) => {
        const series = await prometheus.range(filled(expr), minutes);
        const lines = series.map(({ metric, values }) => ({
          name: legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? ''),
          points: values
            .map(([time, value]) => [time, Number(value)] as const)
            .filter(([, value]) => Number.isFinite(value)),
        }));
        return { expr, lines: lines.filter(({ points }) => points.length > 0) };
      }),
    );
    answers.set(
      panel,
      asked.flatMap(({ lines }) => lines),
    );
    answers.withoutData.set(
      panel,
      asked.filter(({ lines }) => lines.length === 0).map(({ expr }) => expr),
    );
  }
  return answers;
}
