import { readFileSync, writeFileSync } from 'node:fs';
import { withAlerts } from './alerts-table.ts';
import { dashboardJson } from './dashboard.ts';

/** Writes the dashboard of the chart from `panels.ts`, and the table of alerts in docs/operations/monitoring.md from the chart's rules. */
const ROOT = new URL('../../', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, ROOT), 'utf8');
const write = (name: string, text: string): void => writeFileSync(new URL(name, ROOT), text);

write(
  'docs/operations/monitoring.md',
  withAlerts(read('docs/operations/monitoring.md'), read('charts/gatehouse/files/rules.yaml')),
);

write('charts/gatehouse/files/dashboard.json', dashboardJson());
