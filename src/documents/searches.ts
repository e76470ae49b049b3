import type { DocumentKind } from './document-kind.ts';
import type { DocumentQuery } from './document-query.ts';
import type { Readable, ReadableNamespace } from './rights/readable-namespaces.ts';
import type { DocumentSearch } from './store/document-store.ts';

/**
 * The most namespaces with a `since` of their own in one search. The stores allow 1,024 clauses by default. Each namespace takes two, and the
 * parameters of logs take up to 450. Where the name has two places, each takes four, and the parameters of events take up to 552.
 */
const mostYoung = ({ fields, namespace }: DocumentKind): number => ((fields[namespace]?.length ?? 1) > 1 ? 100 : 250);
/** The most other namespaces in one search; the stores allow 65,536 names in a clause. */
const MOST_WHOLE = 10_000;

/**
 * The searches that together find the queried records that the caller may see. Usually it is one. There are none without such
 * namespaces, and several if the store would refuse a single one for its size. No record is found by two of them.
 */
export function searchesFor(
  { conditions, time }: Pick<DocumentQuery, 'conditions' | 'time'>,
  readable: Readable,
  kind: DocumentKind,
): DocumentSearch[] {
  if (readable.everything) return [{ conditions, time }];
  const { start = Number.NEGATIVE_INFINITY, end = Number.POSITIVE_INFINITY } = time;
  const whole: string[] = [];
  const young: Required<ReadableNamespace>[] = [];
  for (const { name, since = Number.NEGATIVE_INFINITY } of readable.namespaces) {
    if (since <= start * 1_000 || since === Number.NEGATIVE_INFINITY) whole.push(name);
    else if (since < (end + 1) * 1_000) young.push({ name, since });
  }
  const parts = { whole: piecesOf(whole, MOST_WHOLE), young: piecesOf(young, mostYoung(kind)) };
  const count = Math.max(parts.whole.length, parts.young.length);
  return Array.from({ length: count }, (_, at) => ({
    conditions,
    time,
    namespaces: { whole: parts.whole[at] ?? [], young: parts.young[at] ?? [] },
  }));
}

const piecesOf = <Element>(elements: readonly Element[], most: number): Element[][] =>
  Array.from({ length: Math.ceil(elements.length / most) }, (_, at) => elements.slice(at * most, (at + 1) * most));
