import { setTimeout as sleep } from 'node:timers/promises';
import { accountNames, userRef } from '../src/accounts/names.ts';
import { hashPassword } from '../src/users/password-hash.ts';
import type { Bench } from './bench.ts';
import type { Ask } from './load/connection.ts';
import type { SignInReport } from './load/sign-ins.ts';
import { memoryOf } from './load/usage.ts';
import { type Simulation, startSimulated } from './peers/clusters.ts';
import {
  BENCH_HASH_COST,
  BENCH_USERS,
  DEPLOYED_HEAP,
  fourDigits,
  type Gatehouse,
  type GatehouseOptions,
  signInAsk,
  startGatehouse,
  withoutBearer,
} from './peers/gatehouse.ts';
import { createUserObject } from './peers/user-objects.ts';
import { median, quantile } from './statistics.ts';
import { count, megabytes, number, table, verdict } from './table.ts';

/** A Gatehouse with 10,000 users as objects beside one without accounts, in front of the same cluster. */
export interface AccountsResults {
  readonly users: number;
  readonly records: number;
  readonly pageMs: readonly number[];
  readonly plain: PeerFigures;
  readonly accounts: PeerFigures;
  /** Sign-ins by e-mail address, of users who are objects. */
  readonly byEmail: readonly SignInReport[];
}

interface PeerFigures {
  /** One value a round, each of a new process. */
  readonly startToReadyMs: readonly number[];
  /** The resident bytes of each of these processes when it is ready. */
  readonly memory: readonly number[];
  readonly signIns: readonly SignInReport[];
}

const USERS = 10_000;
const RECORDS_EACH = 10;
const NODES = 100;

/** Targets: the 99th percentile of a page of ten users; the additional memory and start time, compared with a server without accounts. */
const PAGE_P99_MS = 5;
const MORE_MEMORY_BYTES = 60e6;
const MORE_START_MS = 2_000;
/** Target for sign-ins by name, as a share of the rate with a users file. */
const LEAST_SIGN_INS = 0.9;

const PAGES = 2_000;
/** The share of the requests that is not measured, at the start. */
const HEAT_SHARE = 0.2;
const SIGN_IN_CONNECTIONS = 4;
/** A process is ready before it has read all login records, which takes some seconds of a core. */
const SETTLE_MS = 6_000;

const NAMES = accountNames('gatehouse');
const LIST = `/kapis/${NAMES.apiVersion}/users?limit=10&page=7&sortBy=createTime`;
const SETTINGS = { accounts: { enabled: true } };

const nameOf = (at: number): string => `user-${fourDigits(at)}`;
const emailOf = (at: number): string => `${nameOf(at)}@example.com`;

export async function measureAccounts(bench: Bench): Promise<AccountsResults> {
  bench.note(`${USERS} users and ${USERS * RECORDS_EACH} login records`);
  const simulation = await startSimulated(NODES);
  const password = 'Bench-Passw0rd';
  createUsers(simulation, await hashPassword(password, BENCH_HASH_COST));
  const common = { ...simulation, nodeArguments: DEPLOYED_HEAP };
  const plain = await measurePeer(bench, { ...common, name: 'plain' }, (gatehouse) =>
    BENCH_USERS.map((name) => signInAsk(name, gatehouse.password)),
  );
  const pageMs: number[] = [];
  const byEmail: SignInReport[] = [];
  const some = BENCH_USERS.map((_, at) => at * 37);
  const accounts = await measurePeer(
    bench,
    { ...common, name: 'accounts', settings: SETTINGS },
    () => some.map((at) => signInAsk(nameOf(at), password)),
    async (gatehouse) => {
      pageMs.push(...(await samplePages(bench, gatehouse)));
      byEmail.push(
        await signInFor(
          bench,
          gatehouse,
          some.map((at) => signInAsk(emailOf(at), password)),
        ),
      );
    },
  );
  await simulation.stop();
  return { users: USERS, records: USERS * RECORDS_EACH, pageMs, plain, accounts, byEmail };
}

/** Creates users as they are after a year: all have a password and ten login records, and most have a group. */
function createUsers({ cluster: { objects } }: Simulation, hash: string): void {
  for (let at = 0; at < USERS; at++) {
    const name = nameOf(at);
    createUserObject(objects, { name, email: emailOf(at), groups: [`team-${at % 100}`], hash });
    for (let record = 0; record < RECORDS_EACH; record++) objects.create('loginrecords', recordOf(name, record));
  }
}

const recordOf = (name: string, record: number) => ({
  metadata: { name: `${name}-${fourDigits(record)}`, labels: { [NAMES.userRef]: userRef(name) } },
  spec: {
    type: 'Token',
    provider: '',
    success: record % 5 !== 0,
    reason: record % 5 === 0 ? 'incorrect password' : 'authenticated successfully',
    sourceIP: `192.0.2.${record}`,
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
  },
});

/** Starts a new process for each round. Measures its sign-ins and what `more` adds. */
async function measurePeer(
  bench: Bench,
  options: GatehouseOptions,
  asks: (gatehouse: Gatehouse) => readonly Ask[],
  more: (gatehouse: Gatehouse) => Promise<void> = async () => undefined,
): Promise<PeerFigures> {
  const startToReadyMs: number[] = [];
  const memory: number[] = [];
  const signIns: SignInReport[] = [];
  for (let round = 1; round <= bench.options.rounds; round++) {
    bench.note(`round ${round}, ${options.name}`);
    const gatehouse = await startGatehouse(bench.children, options);
    startToReadyMs.push(gatehouse.startToReadyMs);
    memory.push((await memoryOf(gatehouse)).now ?? Number.NaN);
    await sleep(SETTLE_MS);
    signIns.push(await signInFor(bench, gatehouse, asks(gatehouse)));
    await more(gatehouse);
    await gatehouse.stop();
  }
  return { startToReadyMs, memory, signIns };
}

async function signInFor(
  { generator, options }: Bench,
  gatehouse: Gatehouse,
  asks: readonly Ask[],
): Promise<SignInReport> {
  const report = await generator.signIns({
    target: withoutBearer(gatehouse),
    asks,
    connections: SIGN_IN_CONNECTIONS,
    measureMs: options.seconds * 1_000,
    serverPid: gatehouse.pid,
  });
  return { ...report, refreshTokens: [] }; // tokens are not printed
}

async function samplePages({ generator }: Bench, { target }: Gatehouse): Promise<number[]> {
  const asks = Array.from({ length: PAGES }, (): Ask => ({ path: LIST }));
  const { latenciesMs } = await generator.samples({ target, asks, status: 200 });
  return latenciesMs.slice(Math.floor(latenciesMs.length * HEAT_SHARE));
}

/** Successful sign-ins a second, for each core that the server used meanwhile. */
const perSecond = (reports: readonly SignInReport[]): number =>
  median(reports.map(({ statuses, seconds, serverShare = 1 }) => (statuses['200'] ?? 0) / seconds / serverShare));

/** The results as text: a table with targets. */
export function printAccounts({ users, records, pageMs, plain, accounts, byEmail }: AccountsResults): string {
  const page = quantile(pageMs, 0.99);
  const start = median(accounts.startToReadyMs) - median(plain.startToReadyMs);
  const memory = median(accounts.memory) - median(plain.memory);
  const share = perSecond(accounts.signIns) / perSecond(plain.signIns);
  const shareByEmail = perSecond(byEmail) / perSecond(plain.signIns);
  const judged = (value: number, isGood: boolean, target: string, shown = number(value)): string[] => [
    shown,
    target,
    verdict(isGood),
  ];
  const rows = [
    ['a page of ten users, p99, ms', ...judged(page, page <= PAGE_P99_MS, `≤ ${PAGE_P99_MS}`)],
    ['start to ready, more ms', ...judged(start, start <= MORE_START_MS, `≤ ${count(MORE_START_MS)}`)],
    [
      'resident memory, more',
      ...judged(memory, memory <= MORE_MEMORY_BYTES, `≤ ${megabytes(MORE_MEMORY_BYTES)}`, megabytes(memory)),
    ],
    ['sign-ins by name: ratio', ...judged(share, share >= LEAST_SIGN_INS, `≥ ${LEAST_SIGN_INS}`)],
    ['sign-ins by e-mail: ratio', ...judged(shareByEmail, shareByEmail >= LEAST_SIGN_INS, `≥ ${LEAST_SIGN_INS}`)],
  ];
  const title = `${count(users)} users as objects with ${count(records)} login records, beside a Gatehouse without accounts`;
  return table(title, ['', 'measured', 'target', ''], rows);
}
