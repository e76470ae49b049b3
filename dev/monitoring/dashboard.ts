import {
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import type { Panel } from './panel.ts';
import { ROWS } from './panels.ts';

const DATASOURCE = { type: 'prometheus', uid: '$datasource' };
/** The sizes of panels, in the units of Grafana's grid, which has 24 columns. */
const SIZES = { figure: { width: 4, height: 4 }, lines: { width: 8, height: 8 } };

const variable = (name: string, label: string, query: string): QueryVariableBuilder =>
  new QueryVariableBuilder(name)
    .label(label)
    .datasource(DATASOURCE)
    .query({ query, refId: name })
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc);

function toPanel({ title, description, kind, unit, queries }: Panel): StatBuilder | TimeseriesBuilder {
  const panel = kind === 'figure' ? new StatBuilder() : new TimeseriesBuilder();
  panel.title(title).description(description).unit(unit).datasource(DATASOURCE);
  panel.span(SIZES[kind].width).height(SIZES[kind].height);
  queries.forEach(({ expr, legend }, index) => {
    panel.withTarget(
      new DataqueryBuilder()
        .refId(String.fromCharCode(65 + index))
        .expr(expr)
        .legendFormat(legend),
    );
  });
  return panel;
}

/** The dashboard in Grafana's JSON, from the panels of `panels.ts`. */
export function dashboardJson(): string {
  const dashboard = new DashboardBuilder('Gatehouse')
    .uid('gatehouse')
    .description(
      'Traffic, cache, sign-ins, keys and memory of Gatehouse. docs/operations/monitoring.md has the alerts, docs/operations/runbooks.md their runbooks.',
    )
    .tags(['gatehouse'])
    .readonly()
    .tooltip(DashboardCursorSync.Crosshair)
    .refresh('1m')
    .time({ from: 'now-6h', to: 'now' })
    .timezone('browser')
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))
    .withVariable(variable('namespace', 'Namespace', 'label_values(gatehouse_build_info, namespace)'))
    .withVariable(
      variable('pod', 'Pod', 'label_values(gatehouse_build_info{namespace="$namespace"}, pod)')
        .multi(true)
        .includeAll(true),
    );
  for (const { title, panels } of ROWS) {
    dashboard.withRow(new RowBuilder(title));
    for (const panel of panels) dashboard.withPanel(toPanel(panel));
  }
  return `${JSON.stringify(dashboard.build(), undefined, 2)}\n`;
}
