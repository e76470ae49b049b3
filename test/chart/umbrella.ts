import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CHART } from './helm.ts';

/** What the chart says of itself. */
export const CHART_META = { apiVersion: 'v2', name: 'umbrella', version: '1.0.0' };

/**
 * Makes a chart with this one as a dependency, once under each of these names, where `<name>.enabled` is true. The caller
 * removes the folder.
 */
export async function umbrellaChart(aliases: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-umbrella-chart-'));
  const { version } = parse(await readFile(join(CHART, 'Chart.yaml'), 'utf8')) as { version: string };
  const dependencies = aliases.map((alias) => ({
    ...{ name: 'gatehouse', version, condition: `${alias}.enabled` },
    ...(alias !== 'gatehouse' && { alias }),
  }));
  await writeFile(join(folder, 'Chart.yaml'), JSON.stringify({ ...CHART_META, dependencies }));
  await cp(CHART, join(folder, 'charts', 'gatehouse'), { recursive: true });
  return folder;
}
