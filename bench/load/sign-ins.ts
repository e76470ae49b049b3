import { type Ask, Connection, requestBytes, type Target } from './connection.ts';
import { secondsBetween, serverShareOf, usageNow } from './usage.ts';

/** Many connections that sign in, each with one request in flight. */
export interface SignInPlan {
  readonly target: Target;
  /** Sent in turn; every connection begins at another place of the list. */
  readonly asks: readonly Ask[];
  readonly connections: number;
  readonly measureMs: number;
  readonly serverPid?: number;
}

export interface SignInReport {
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** Of one core; above 1 where the server uses several. */
  readonly serverShare?: number;
  /** Of the answers that had one. */
  readonly refreshTokens: readonly string[];
}

interface Found {
  readonly statuses: Record<string, number>;
  readonly refreshTokens: string[];
}

/** Signs in until the time is over, whatever the answers. Rejects on the first broken connection. */
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

/** Each connection is a caller of its own to a server that trusts loopback as a proxy; addresses for benchmarks, RFC 2544. */
const from = (index: number, ask: Ask): Ask => ({
  ...ask,
  headers: { ...ask.headers, 'x-forwarded-for': `198.18.${index >> 8}.${index & 255}` },
});
