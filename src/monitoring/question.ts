import { invalid, type ParameterReader, quoted, readParameters } from '../runtime/text/parameters.ts';
import { readQueryPairs } from '../runtime/text/query-pairs.ts';
import type { StatusCause } from '../status-error.ts';

/** A time in seconds since 1970, or a range of them with a step in seconds. An absent time is now. */
export type AskedTime =
  | { readonly time: number | undefined }
  | { readonly start: number; readonly end: number; readonly step: number };

/** Which nodes come first, and which page of them is asked for. */
export interface Ranking {
  readonly metric: string;
  readonly order: 'asc' | 'desc';
  /** From 1 on. */
  readonly page: number;
  readonly limit: number;
}

/** What a request for metrics asks. */
export interface Question {
  /** Names that are offered, each once, in the order of the request. */
  readonly metrics: readonly string[];
  /** Names of nodes; empty for all. */
  readonly nodes: readonly string[];
  readonly time: AskedTime;
  readonly ranking: Ranking | undefined;
}

/** The console joins some 20 names; all that are offered for the cluster are fewer. */
const MOST_METRICS = 100;
/** The longest page of nodes that the console asks for has 100. */
const MOST_NODES = 500;
/** Prometheus refuses more points of a series (its API, "Range queries"). */
const MOST_POINTS = 11_000;
/** The defaults of 3.4 (`pkg/kapis/monitoring/v1alpha3/helper.go`). */
const DEFAULT_STEP = 600;
const DEFAULT_LIMIT = 5;

/** The year 9999. */
const LAST_SECOND = 253_402_300_799;
const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600, d: 86_400 };

interface Draft {
  metrics: readonly string[];
  nodes: readonly string[];
  time?: number;
  start?: number;
  end?: number;
  step: number;
  sortMetric?: string;
  order: Ranking['order'];
  page: number;
  limit: number;
}

type Setting = Partial<Draft>;

/**
 * Parses the text after the `?` by 3.4's rules, but for names: they are whole names and no patterns. Names of metrics that are not
 * offered are left out, and unknown parameters are ignored, because the console sends more than is needed. Throws one 400 that names
 * every bad parameter.
 */
export function parseQuestion(queryString: string, offered: readonly string[], isRanked: boolean): Question {
  const settings = readParameters<Setting>(queryString, readersFor(queryString, offered, isRanked), (read, areGood) =>
    contradictions(toDraft(read, offered), areGood),
  );
  const draft = toDraft(settings, offered);
  const { start, end, step, time, sortMetric } = draft;
  const isRange = start !== undefined && end !== undefined;
  return {
    metrics: draft.metrics,
    nodes: draft.nodes,
    time: isRange ? { start, end, step } : { time },
    // 3.4 ranks no ranges either.
    ranking:
      sortMetric === undefined || isRange
        ? undefined
        : { metric: sortMetric, order: draft.order, page: draft.page, limit: draft.limit },
  };
}

const toDraft = (settings: readonly Setting[], offered: readonly string[]): Draft =>
  Object.assign(
    { metrics: offered, nodes: [], step: DEFAULT_STEP, order: 'desc', page: 1, limit: DEFAULT_LIMIT },
    ...settings,
  );

function contradictions(draft: Draft, areGood: (...names: readonly string[]) => boolean): StatusCause[] {
  const { start, end, step, time } = draft;
  if (!areGood('start', 'end', 'step', 'time')) return [];
  if (start === undefined && end === undefined) return [];
  if (start === undefined) return [invalid('start', 'it is needed beside "end"')];
  if (end === undefined) return [invalid('end', 'it is needed beside "start"')];
  if (time !== undefined) return [invalid('time', 'it stands alone, without "start" and "end"')];
  if (end < start) return [invalid('end', 'it is before "start"')];
  return (end - start) / step >= MOST_POINTS ? [invalid('step', `it makes more than ${MOST_POINTS} points`)] : [];
}

/** Readers for all parameters of this query, so that those which we do not know are ignored. */
function readersFor(
  queryString: string,
  offered: readonly string[],
  isRanked: boolean,
): ReadonlyMap<string, ParameterReader<Setting>> {
  const pairs = readQueryPairs(queryString);
  const names = 'fault' in pairs ? [] : pairs.map(([name]) => name);
  const known = new Map(
    Object.entries({ ...readers(new Set(offered)), ...(isRanked ? rankings(new Set(offered)) : {}) }),
  );
  return new Map(names.map((name) => [name, unlessEmpty(known.get(name) ?? (() => ({})))]));
}

const unlessEmpty =
  (read: ParameterReader<Setting>): ParameterReader<Setting> =>
  (text, name) =>
    text === '' ? {} : read(text, name);

const readers = (offered: ReadonlySet<string>): Readonly<Record<string, ParameterReader<Setting>>> => ({
  metrics_filter: list(/^[a-z][a-z0-9_]{0,99}$/, MOST_METRICS, (names) => ({
    metrics: names.filter((name) => offered.has(name)),
  })),
  resources_filter: list(NODE_NAME, MOST_NODES, (nodes) => ({ nodes })),
  time: seconds((time) => ({ time })),
  start: seconds((start) => ({ start })),
  end: seconds((end) => ({ end })),
  step: (text, name) => {
    const step = parseStep(text);
    return step === undefined ? invalid(name, `${quoted(text)} is not a step such as 600s or 10m`) : { step };
  },
});

const rankings = (offered: ReadonlySet<string>): Readonly<Record<string, ParameterReader<Setting>>> => ({
  sort_metric: (text, name) =>
    offered.has(text) ? { sortMetric: text } : invalid(name, `${quoted(text)} is no metric that is offered here`),
  sort_type: (text, name) =>
    text === 'asc' || text === 'desc' ? { order: text } : invalid(name, `${quoted(text)} is none of asc, desc`),
  page: count(1_000_000, (page) => ({ page })),
  limit: count(MOST_NODES, (limit) => ({ limit })),
});

/** A DNS subdomain (RFC 1123), as the API server wants the name of a node. */
const NODE_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

export const isNodeName = (text: string): boolean => NODE_NAME.test(text);

/** Names that are joined by `|`. The console ends the text with a `$`. */
const list =
  (form: RegExp, most: number, set: (names: readonly string[]) => Setting): ParameterReader<Setting> =>
  (text, name) => {
    const names = [...new Set(text.replace(/\$$/, '').split('|'))];
    if (names.length > most) return invalid(name, `it has more than ${most} names`);
    const bad = names.find((one) => !form.test(one));
    return bad === undefined ? set(names) : invalid(name, `${quoted(bad)} is no name; names are joined by "|"`);
  };

const seconds =
  (set: (value: number) => Setting): ParameterReader<Setting> =>
  (text, name) => {
    const value = /^[0-9]{1,12}(\.[0-9]{1,9})?$/.test(text) ? Number(text) : Number.NaN;
    return value <= LAST_SECOND ? set(value) : invalid(name, `${quoted(text)} is not a time in seconds`);
  };

const count =
  (most: number, set: (value: number) => Setting): ParameterReader<Setting> =>
  (text, name) => {
    const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : 0;
    return value >= 1 && value <= most
      ? set(value)
      : invalid(name, `${quoted(text)} is not a number from 1 to ${most}`);
  };

/** A duration such as `600s`, `10m` or `1h30m`, in seconds; `undefined` if it is none, shorter than a second, or above a year. */
function parseStep(text: string): number | undefined {
  if (!/^([0-9]{1,9}(\.[0-9]{1,3})?(ms|s|m|h|d)){1,5}$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit = ''] of text.matchAll(/([0-9.]+)(ms|s|m|h|d)/g))
    total += Number(amount) * (UNIT_SECONDS[unit] ?? 0);
  return total >= 1 && total <= 366 * 86_400 ? total : undefined;
}
