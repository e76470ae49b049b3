/** A panel of the dashboard. Grafana's dashboard, its test and the picture in docs are made from these panels. */
export interface Panel {
  readonly title: string;
  readonly description: string;
  /** `figure`: one number; `lines`: a line for each series. */
  readonly kind: 'figure' | 'lines';
  /** A unit of Grafana. */
  readonly unit: string;
  readonly queries: readonly Query[];
}

interface Query {
  readonly expr: string;
  /** The name of a line, with Grafana's placeholders for labels. */
  readonly legend: string;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** The series of a metric in the pods that the variables of the dashboard choose. */
export const of = (metric: string, ...matchers: readonly string[]): string =>
  `${metric}{${['namespace="$namespace"', 'pod=~"$pod"', ...matchers].join(',')}}`;

export const sumBy = (labels: string, inner: string): string => `sum by (${labels}) (${inner})`;
export const rate = (metric: string, ...matchers: readonly string[]): string =>
  `rate(${of(metric, ...matchers)}[$__rate_interval])`;
export const quantile = (share: number, labels: string, metric: string, ...matchers: readonly string[]): string =>
  `histogram_quantile(${share}, ${sumBy(['le', labels].filter(Boolean).join(', '), rate(`${metric}_bucket`, ...matchers))})`;

export const figure = (title: string, unit: string, expr: string, description: string): Panel => ({
  ...{ title, unit, description, kind: 'figure' },
  queries: [{ expr, legend: title }],
});

export const lines = (
  title: string,
  unit: string,
  queries: readonly (readonly [string, string])[],
  description: string,
): Panel => ({
  ...{ title, unit, description, kind: 'lines' },
  queries: queries.map(([expr, legend]) => ({ expr, legend })),
});
