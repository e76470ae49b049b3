import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, type FullAnswer, requestBytes, type Target } from '../load/connection.ts';
import type { Gatehouse } from '../peers/gatehouse.ts';

const ROOT = '/kapis/resources.gatehouse.io/v1alpha3';
/** A first list of 150,000 objects, or reviews of 10,000 namespaces; a busy machine gets several times what they need. */
const TIMEOUT_MS = 300_000;
const POLL_MS = 100;

/** The path of a kind, or of the search, at Gatehouse. */
export const kindPath = (resource: string): string => `${ROOT}/${resource}`;

/** The list of this kind in place of that of nodes. */
export const withKind = (gatehouse: Gatehouse, resource: string): Gatehouse => ({
  ...gatehouse,
  listPath: kindPath(resource),
});

interface FirstAnswer {
  readonly answer: FullAnswer;
  /** From the first request to the end of the first answer 200. */
  readonly tookMs: number;
}

/** Asks until the answer is 200: before that a kind, or what the caller may see, is not known yet (503). */
export async function askFirst(target: Target, path: string): Promise<FirstAnswer> {
  const connection = await Connection.open(target);
  const startAt = performance.now();
  try {
    for (;;) {
      const answer = await connection.fetch(requestBytes(target, { path }));
      const tookMs = performance.now() - startAt;
      if (answer.status === 200) return { answer, tookMs };
      if (answer.status !== 503 || tookMs > TIMEOUT_MS) {
        throw new Error(`${path} answered ${answer.status}: ${answer.content.toString().slice(0, 300)}`);
      }
      await sleep(POLL_MS);
    }
  } finally {
    connection.close();
  }
}

const totalOf = ({ answer }: FirstAnswer): number =>
  (JSON.parse(answer.content.toString()) as { totalItems: number }).totalItems;

/** Throws unless a list has as many objects on all its pages. Otherwise something else than planned would be measured. */
export function expectTotal(first: FirstAnswer, total: number): void {
  const found = totalOf(first);
  if (found !== total) throw new Error(`a list has ${found} objects instead of ${total}`);
}

/** Throws unless a filter matches some objects, but not all. */
export async function expectSome(target: Target, path: string, all: number): Promise<void> {
  const found = totalOf(await askFirst(target, path));
  if (found === 0 || found >= all) throw new Error(`${path} has ${found} of ${all} objects`);
}
