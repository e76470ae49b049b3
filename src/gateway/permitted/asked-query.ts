import { parseInteger64 } from '../../runtime/text/parameters.ts';
import { type QueryPair, readQueryPairs } from '../../runtime/text/query-pairs.ts';
import { badRequest } from '../../status-error.ts';

/** The parameters that we set ourselves, and `pretty`, which would only make the text longer. */
const REPLACED: ReadonlySet<string> = new Set([
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'pretty',
]);

/** The query of a list or watch. Of a parameter that comes more than once the first counts, as the API server reads it. */
export interface AskedQuery {
  /** 0: all items at once. */
  readonly limit: number;
  readonly continueToken: string;
  readonly version: string;
  readonly versionMatch: string;
  readonly sendsInitialEvents: boolean;
  /** The other parameters, as sent. */
  readonly others: readonly QueryPair[];
}

/** Throws a 400 for a query that cannot be read, and for a `limit` that is no number. */
export function readListQuery(query: string): AskedQuery {
  const pairs = readQueryPairs(query);
  if ('fault' in pairs) throw badRequest(pairs.fault);
  const first = (name: string): string => pairs.find(([one]) => one === name)?.[1] ?? '';
  const limit = parseInteger64(first('limit') || '0');
  if (limit === undefined || limit < 0) throw badRequest('the parameter "limit" must be a number that is not negative');
  return {
    limit: Number(limit),
    continueToken: first('continue'),
    version: first('resourceVersion'),
    versionMatch: first('resourceVersionMatch'),
    sendsInitialEvents: /^(1|t|true)$/i.test(first('sendInitialEvents')),
    // A row without its object's metadata could not be placed.
    others: pairs.filter(([name, value]) => !REPLACED.has(name) && !(name === 'includeObject' && value === 'None')),
  };
}

/** The parameters of one request to the cluster. Empty ones are left out. */
export interface AskedPage {
  readonly limit?: number;
  readonly continueToken?: string | undefined;
  readonly version?: string;
  readonly versionMatch?: string;
}

/** The query of one request to the cluster, with `?`; empty without parameters. */
export function queryOf({ others }: Pick<AskedQuery, 'others'>, asked: AskedPage): string {
  const pairs = [...others];
  const add = (name: string, value: string): void => {
    if (value !== '') pairs.push([name, value]);
  };
  add('limit', asked.limit ? String(asked.limit) : '');
  add('continue', asked.continueToken ?? '');
  add('resourceVersion', asked.version ?? '');
  add('resourceVersionMatch', asked.versionMatch ?? '');
  const text = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
  return text === '' ? '' : `?${text}`;
}
