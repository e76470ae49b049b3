import { temporaryFolder } from '../support/temporary-folder.ts';
import { promtool, RULES_FILE, shippedRules } from './promtool.ts';
import { INTERVAL_MS, type Recording } from './recording.ts';

/** What Prometheus makes of a recording by the shipped rules. */
export interface FiredAlerts {
  /** The alerts that fired at any time. */
  readonly names: readonly string[];
  /** Their summaries and descriptions, at several times. */
  readonly texts: readonly string[];
}

const SECONDS = INTERVAL_MS / 1_000;
const INTERVAL = `${SECONDS}s`;
const FIRED = 'group by (alertname) (max_over_time(ALERTS{alertstate="firing"}[1d]))';

/** An alert that looks back over 5 minutes fires at one of these times at least. */
const TEXTS_EVERY = 8;

/**
 * Evaluates the shipped rules, as they are, with Prometheus' own engine (`promtool test rules`) at each scrape of the recording. It is told
 * to expect no alert, and says which there were.
 */
export async function firedAlerts(recording: Recording): Promise<FiredAlerts> {
  const at = (scrape: number): string => `${scrape * SECONDS}s`;
  const times = Array.from({ length: Math.ceil(recording.scrapes / TEXTS_EVERY) }, (_, index) =>
    at(index * TEXTS_EVERY),
  );
  const test = {
    interval: INTERVAL,
    input_series: [...recording.series()].map(([series, values]) => ({
      series,
      values: notation(fromStart(series, values, recording.startedAt)),
    })),
    promql_expr_test: [{ expr: FIRED, eval_time: at(recording.scrapes - 1), exp_samples: [] }],
    alert_rule_test: shippedRules().flatMap(({ alert: alertname }) =>
      times.map((eval_time) => ({ alertname, eval_time, exp_alerts: [] })),
    ),
  };
  const file = { rule_files: [RULES_FILE], evaluation_interval: INTERVAL, tests: [test] };
  const path = temporaryFolder().write('test.json', JSON.stringify(file)); // JSON is YAML
  const { code, text } = await promtool(['test', 'rules', path]);
  const fired = /expr: "group by .*\n.*\n +got: (.*)/.exec(text)?.[1];
  if (code !== 0 && fired === undefined) throw new Error(text);
  return {
    names: [...(fired ?? '').matchAll(/alertname="(\w+)"/g)].map(([, name = '']) => name),
    texts: textsIn(text),
  };
}

type Values = readonly (string | undefined)[];

/** In promtool the recording starts in 1970, so a date is told from its start. */
const fromStart = (series: string, values: Values, startedAt: number): Values =>
  /^\w+_timestamp_seconds\{/.test(series)
    ? values.map((value) => value && `${Number(value) - startedAt / 1_000}`)
    : values;

/** In promtool's notation a series that is gone is `stale`, which Prometheus notes once. */
const notation = (values: Values): string =>
  values.map((value, at) => value ?? (at > 0 && values[at - 1] !== undefined ? 'stale' : '_')).join(' ');

/** A line of promtool's output has all annotations of an alert, quoted as in JSON. */
const textsIn = (output: string): readonly string[] =>
  [...output.matchAll(/^ +Annotations:(.*)$/gm)].flatMap(([, annotations = '']) =>
    ['summary', 'description'].map((name) => {
      const quoted = new RegExp(`\\b${name}=("(?:[^"\\\\]|\\\\.)*")`).exec(annotations)?.[1];
      return JSON.parse(quoted ?? '""') as string;
    }),
  );
