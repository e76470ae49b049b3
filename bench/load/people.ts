import { setTimeout as sleep } from 'node:timers/promises';
import { type Ask, Connection, type FullAnswer, requestBytes, type Target } from './connection.ts';

/** The tokens of one person. */
export interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** People who sign in, each at the next replica. */
export interface ArrivalPlan {
  readonly replicas: readonly Target[];
  /** The sign-in of each person. */
  readonly signIns: readonly Ask[];
}

/** Few enough that a busy machine hashes their passwords before they have to wait too long. */
const SIGN_IN_CONNECTIONS = 4;
const AGAIN_MS = 500;

/** Resolves to the tokens of everybody. Tries again after a 429; rejects on any other refusal. */
export async function runArrivals({ replicas, signIns }: ArrivalPlan): Promise<{ readonly pairs: readonly Pair[] }> {
  const balancer = new Balancer(replicas);
  const pairs: Pair[] = [];
  const queue = signIns.values();
  const signIn = async (ask: Ask): Promise<Pair> => {
    const line = await balancer.connect();
    try {
      for (;;) {
        const answer = await line.ask(ask);
        if (answer.status !== 429) return pairIn(answer);
        await sleep(AGAIN_MS);
      }
    } finally {
      line.close();
    }
  };
  const arrive = async (): Promise<void> => {
    for (const ask of queue) pairs.push(await signIn(ask));
  };
  await Promise.all(Array.from({ length: SIGN_IN_CONNECTIONS }, arrive));
  return { pairs };
}

/** People who have signed in, and now use several replicas, all in the same way. */
export interface StayPlan {
  /** The replicas, in the order in which a load balancer gives them new connections. */
  readonly replicas: readonly Target[];
  /** The tokens of each person. */
  readonly pairs: readonly Pair[];
  /** The refresh, without the token, which is appended to its body. */
  readonly refresh: Ask;
  readonly watchPath: string;
  readonly listPath: string;
  /** A call to the cluster's own paths. */
  readonly callPath: string;
  /** The time from one request of a person to the next one of the same sort. */
  readonly everyMs: Readonly<Record<Sort, number>>;
  /** The time until everybody leaves. */
  readonly stayMs: number;
}

const SORTS = ['list', 'call', 'refresh'] as const;
type Sort = (typeof SORTS)[number];

export interface StayReport {
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Watches that ended before their people left. */
  readonly lostWatches: number;
}

/** Rejects if a connection breaks twice. Every answer is counted, whatever its status. */
export async function runStay(plan: StayPlan): Promise<StayReport> {
  const crowd = new Crowd(plan);
  await Promise.all(plan.pairs.map((pair, at) => crowd.stay(pair, at / plan.pairs.length)));
  return { statuses: crowd.statuses, lostWatches: crowd.lostWatches };
}

class Crowd {
  readonly statuses: Record<string, number> = {};
  lostWatches = 0;
  readonly #plan: StayPlan;
  readonly #balancer: Balancer;
  readonly #beganAt = performance.now();

  constructor(plan: StayPlan) {
    this.#plan = plan;
    this.#balancer = new Balancer(plan.replicas);
  }

  /**
   * One person opens a watch, and then lists, calls and refreshes until the end, each on a connection of its own. The share of the way
   * from one request to the next at which this person begins is `phase`, so that not all act at once.
   */
  async stay(first: Pair, phase: number): Promise<void> {
    const { listPath, callPath, refresh, everyMs } = this.#plan;
    const state = { pair: first };
    const headers = () => ({ authorization: `Bearer ${state.pair.access_token}` });
    const closeWatch = await this.#watch(headers());
    const act: Readonly<Record<Sort, (line: Line) => Promise<void>>> = {
      list: async (line) => void (await this.#counted(line, { path: listPath, headers: headers() })),
      call: async (line) => void (await this.#counted(line, { path: callPath, headers: headers() })),
      refresh: async (line) => {
        const body = `${refresh.body ?? ''}&refresh_token=${state.pair.refresh_token}`;
        const answer = await this.#counted(line, { ...refresh, body });
        if (answer.status === 200) state.pair = pairIn(answer); // otherwise the token stays good
      },
    };
    await Promise.all(SORTS.map((sort) => this.#repeat(act[sort], everyMs[sort], phase)));
    closeWatch();
  }

  async #repeat(act: (line: Line) => Promise<void>, everyMs: number, phase: number): Promise<void> {
    const line = await this.#balancer.connect();
    for (let dueMs = phase * everyMs; dueMs < this.#plan.stayMs; dueMs += everyMs) {
      await sleep(Math.max(0, this.#beganAt + dueMs - performance.now()));
      await act(line);
    }
    await sleep(Math.max(0, this.#beganAt + this.#plan.stayMs - performance.now()));
    line.close();
  }

  /** The answer of a watch ends with its connection, when the person leaves or the server ends it. */
  async #watch(headers: NonNullable<Ask['headers']>): Promise<() => void> {
    const line = await this.#balancer.connect();
    const left = { already: false };
    const ended = (): void => {
      if (!left.already) this.lostWatches++;
    };
    line.count({ path: this.#plan.watchPath, headers }).then(ended, ended);
    return () => {
      left.already = true;
      line.close();
    };
  }

  async #counted(line: Line, ask: Ask): Promise<FullAnswer> {
    const answer = await line.ask(ask);
    this.statuses[answer.status] = (this.statuses[answer.status] ?? 0) + 1;
    return answer;
  }
}

function pairIn({ status, content }: FullAnswer): Pair {
  if (status !== 200) throw new Error(`a sign-in answered ${status}`);
  return JSON.parse(content.toString()) as Pair;
}

/** A connection to one replica, opened again once if it is closed. */
interface Line {
  ask(ask: Ask): Promise<FullAnswer>;
  /** Counts the content instead of keeping it. */
  count(ask: Ask): Promise<unknown>;
  close(): void;
}

/** Gives each new connection to the next replica. */
class Balancer {
  readonly #replicas: readonly Target[];
  #connections = 0;

  constructor(replicas: readonly Target[]) {
    this.#replicas = replicas;
  }

  async connect(): Promise<Line> {
    const target = this.#replicas[this.#connections++ % this.#replicas.length];
    if (!target) throw new Error('there is no replica');
    let connection = await Connection.open(target);
    const again = async (): Promise<void> => {
      connection.close();
      connection = await Connection.open(target);
    };
    return {
      async ask(ask) {
        const bytes = requestBytes(target, ask);
        try {
          return await connection.fetch(bytes);
        } catch {
          await again(); // a server may close a connection that is idle, as after some refusals
          return connection.fetch(bytes);
        }
      },
      count: (ask) => connection.exchange(requestBytes(target, ask)),
      close: () => connection.close(),
    };
  }
}
