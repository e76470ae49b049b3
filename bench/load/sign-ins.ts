import { quantile } from '../statistics.ts';
import { type Ask, Connection, requestBytes, type Target } from './connection.ts';
import { secondsBetween, serverShareOf, type Usage, usageNow } from './usage.ts';

/** Many connections that sign in, each with one request in flight. */
export interface SignInPlan {
  readonly target: Target;
  /** The requests, sent in this order again and again; each connection begins at another one. */
  readonly asks: readonly Ask[];
  readonly connections: number;
  readonly measureMs: number;
  readonly serverPid?: number;
}

export interface SignInReport {
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** The server's processor time, as a share of one core; above 1 if the server uses several. */
  readonly serverShare?: number;
  /** The refresh tokens of the answers that had one. */
  readonly refreshTokens: readonly string[];
}

interface Found {
  readonly statuses: Record<string, number>;
  readonly refreshTokens: string[];
}

/** Signs in until the time is over, whatever the answers are. Rejects on the first broken connection. */
export async function runSignIns(plan: SignInPlan): Promise<SignInReport> {
  const connections = await Promise.all(Array.from({ length: plan.connections }, () => Connection.open(plan.target)));
  try {
    const found: Found = { statuses: {}, refreshTokens: [] };
    const first = usageNow(plan.serverPid);
    await Promise.all(connections.map((connection, index) => keepSigningIn(connection, { plan, index, found })));
    const last = usageNow(plan.serverPid);
    return { ...found, seconds: secondsBetween(first, last), ...serverShareOf(first, last) };
  } finally {
    for (const connection of connections) connection.close();
  }
}

async function keepSigningIn(
  connection: Connection,
  { plan, index, found }: { plan: SignInPlan; index: number; found: Found },
): Promise<void> {
  const requests = plan.asks.map((ask) => requestBytes(plan.target, from(index, ask)));
  const endAt = performance.now() + plan.measureMs;
  for (let nth = index; performance.now() < endAt; nth++) {
    const { status, content } = await connection.fetch(requests[nth % requests.length] as Buffer);
    found.statuses[status] = (found.statuses[status] ?? 0) + 1;
    if (status !== 200) continue;
    found.refreshTokens.push((JSON.parse(content.toString()) as { refresh_token: string }).refresh_token);
  }
}

/**
 * Gives each connection a caller address of its own, for a server that trusts loopback as a proxy. The addresses are reserved for
 * benchmarks (RFC 2544).
 */
export const from = (index: number, ask: Ask): Ask => ({
  ...ask,
  headers: { ...ask.headers, 'x-forwarded-for': `198.18.${index >> 8}.${index & 255}` },
});

/** Sessions that are refreshed again and again, each time with the token of the last answer. */
export interface RefreshPlan {
  readonly target: Target;
  /** The request without the token, which is appended to its body. */
  readonly ask: Ask;
  /** The token of each session. */
  readonly refreshTokens: readonly string[];
  /** The rotations of each session; the server refuses more than ten a minute. The first one is the warm-up. */
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
  /** The server's processor time, as a share of one core. */
  readonly serverShare?: number;
  /** The access tokens that were issued; none of them has been used yet. */
  readonly accessTokens: readonly string[];
}

interface Refreshed {
  /** The usage when the first session began its second rotation. */
  first: Usage | undefined;
  readonly latencies: number[];
  readonly accessTokens: string[];
}

/** Ends when the time is over or every session is used up. Rejects on the first answer that is not 200. */
export async function runRefreshes(plan: RefreshPlan): Promise<RefreshReport> {
  const connections = await Promise.all(Array.from({ length: plan.connections }, () => Connection.open(plan.target)));
  try {
    const found: Refreshed = { first: undefined, latencies: [], accessTokens: [] };
    await Promise.all(connections.map((connection, index) => keepRefreshing(connection, { plan, index, found })));
    return toReport(plan, found);
  } finally {
    for (const connection of connections) connection.close();
  }
}

async function keepRefreshing(
  connection: Connection,
  { plan, index, found }: { plan: RefreshPlan; index: number; found: Refreshed },
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

function toReport({ serverPid }: RefreshPlan, { first, latencies, accessTokens }: Refreshed): RefreshReport {
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
