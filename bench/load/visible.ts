import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, requestBytes, type Target } from './connection.ts';

/** Changes a label in the cluster again and again, and asks for Gatehouse's list until the label is in it. */
export interface VisiblePlan {
  readonly cluster: Target;
  readonly gatehouse: Target;
  readonly listPath: string;
  /** The path of one of `nodes` in the cluster's API is this, a slash and its name. */
  readonly objectsPath: string;
  readonly nodes: readonly string[];
  readonly tries: number;
  /** The time from the start of one try to the start of the next. A try that takes longer delays the next. */
  readonly everyMs: number;
  /** The longest time of one try. A longer one fails the measurement. */
  readonly timeoutMs: number;
}

export interface VisibleReport {
  /** The time from the cluster's answer to the change until the first list that shows it. */
  readonly latenciesMs: readonly number[];
  /** The number of list requests in all tries, which shows how exact the times are. */
  readonly polls: number;
  /** The number of changes that were made in a second. */
  readonly changesPerSecond: number;
}

const LABEL = 'bench.example.test/try';

/** Rejects when a change is refused, an answer is not 200 or a try takes too long. */
export async function runVisible(plan: VisiblePlan): Promise<VisibleReport> {
  const cluster = await Connection.open(plan.cluster);
  const gatehouse = await Connection.open(plan.gatehouse);
  const latenciesMs: number[] = [];
  const polls = { count: 0 };
  const startAt = performance.now();
  try {
    for (let attempt = 0; attempt < plan.tries; attempt++) {
      const name = plan.nodes[attempt % plan.nodes.length] ?? '';
      const value = `v${attempt}-${name.length}`;
      await change(cluster, plan, { name, value });
      latenciesMs.push(await untilShown(gatehouse, plan, { name, value, polls }));
      await sleep(Math.max(0, startAt + (attempt + 1) * plan.everyMs - performance.now()));
    }
  } finally {
    cluster.close();
    gatehouse.close();
  }
  const changesPerSecond = (plan.tries / (performance.now() - startAt)) * 1_000;
  return { latenciesMs, polls: polls.count, changesPerSecond };
}

async function change(cluster: Connection, plan: VisiblePlan, to: { name: string; value: string }): Promise<void> {
  const request = requestBytes(plan.cluster, {
    method: 'PATCH',
    path: `${plan.objectsPath}/${to.name}`,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ metadata: { labels: { [LABEL]: to.value } } }),
  });
  const answer = await cluster.exchange(request);
  if (answer.status !== 200) throw new Error(`the label patch of ${to.name} answered ${answer.status}`);
}

/** Milliseconds from now until the list shows the label. */
async function untilShown(
  gatehouse: Connection,
  plan: VisiblePlan,
  wanted: { name: string; value: string; polls: { count: number } },
): Promise<number> {
  const startAt = performance.now();
  const request = requestBytes(plan.gatehouse, { path: `${plan.listPath}?names=${wanted.name}` });
  const shown = `"${LABEL}":"${wanted.value}"`;
  while (performance.now() - startAt < plan.timeoutMs) {
    wanted.polls.count++;
    const answer = await gatehouse.fetch(request);
    if (answer.status !== 200) throw new Error(`the list answered ${answer.status}`);
    if (answer.content.includes(shown)) return performance.now() - startAt;
  }
  throw new Error(`a label of ${wanted.name} was not in the list after ${plan.timeoutMs} ms`);
}
