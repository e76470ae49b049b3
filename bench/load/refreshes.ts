import { quantile } from '../statistics.ts';
import { type Ask, Connection, requestBytes, type Target } from './connection.ts';
import { secondsBetween, serverShareOf, type Usage, usageNow } from './usage.ts';

/** Sessions that are refreshed again and again, each time with the token of the last answer. */
export interface RefreshPlan {
  readonly target: Target;
  /** Without the token, which is appended to its body. */
  readonly ask: Ask;
  /** One for each session. */
  readonly refreshTokens: readonly string[];
  /** Of one session: the server refuses more than ten rotations a minute. The first of each is the warm-up. */
  readonly rotations: number;
  readonly connections: number;
  readonly measureMs: number;
  readonly serverPid?: number;
}

export interface RefreshReport {
  readonly refreshes: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of one core. */
  readonly serverShare?: number;
  /** As issued, none of them used yet. */
  readonly accessTokens: readonly string[];
}

interface Found {
  /** When the first session came to its second rotation. */
  first: Usage | undefined;
  readonly latencies: number[];
  readonly accessTokens: string[];
}

/** Ends when the time is over or every session is used up. Rejects on the first answer that is not 200. */
export async function runRefreshes(plan: RefreshPlan): Promise<RefreshReport> {
  const connections = await Promise.all(Array.from({ length: plan.connections }, () => Connection.open(plan.target)));
  try {
    const found: Found = { first: undefined, latencies: [], accessTokens: [] };
    await Promise.all(connections.map((connection, index) => keepRefreshing(connection, { plan, index, found })));
    return toReport(plan, found);
  } finally {
    for (const connection of connections) connection.close();
  }
}

async function keepRefreshing(
  connection: Connection,
  { plan, index, found }: { plan: RefreshPlan; index: number; found: Found },
): Promise<void> {
  const tokens = plan.refreshTokens.filter((_, nth) => nth % plan.connections === index);
  for (let rotation = 0; rotation < plan.rotations; rotation++)
    for (const [nth, token] of tokens.entries()) {
      if (rotation > 0) found.first ??= usageNow(plan.serverPid);
      const askedAt = performance.now();
      if (found.first && askedAt - found.first.at >= plan.measureMs) return;
      const pair = await refresh(connection, plan, token);
      if (found.first) found.latencies.push(performance.now() - askedAt);
      found.accessTokens.push(pair.access_token);
      tokens[nth] = pair.refresh_token;
    }
}

interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

async function refresh(connection: Connection, { target, ask }: RefreshPlan, token: string): Promise<Pair> {
  const { status, content } = await connection.fetch(
    requestBytes(target, { ...ask, body: `${ask.body ?? ''}&refresh_token=${token}` }),
  );
  if (status !== 200) throw new Error(`a refresh answered ${status}`);
  return JSON.parse(content.toString()) as Pair;
}

function toReport({ serverPid }: RefreshPlan, { first, latencies, accessTokens }: Found): RefreshReport {
  if (!first) throw new Error('nothing was refreshed after the warm-up');
  const last = usageNow(serverPid);
  return {
    refreshes: latencies.length,
    seconds: secondsBetween(first, last),
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    ...serverShareOf(first, last),
    accessTokens,
  };
}
