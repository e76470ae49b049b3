import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Clock } from '../../runtime/clock.ts';
import { asArray, asObject } from '../../runtime/text/json-value.ts';
import type { OwnReads, WholeCollection } from './own-reads.ts';

/** What discovery says about a kind. */
interface ServedKind {
  readonly namespaced: boolean;
}

/** The kind of a collection; `undefined` if the cluster has none, or does not say. */
export type KindOf = (collection: WholeCollection) => Promise<ServedKind | undefined>;

/** How long a document of discovery is used. A new custom resource is known this late at most. */
const REMEMBERED_MS = 30_000;
/** The most versions of groups that are remembered: a large cluster has about 200, with some 50 kinds in the largest. */
const MOST_REMEMBERED = 500;
/** The longest document: the core group's has 30 kB. */
const LONGEST_DOCUMENT = 4 * 1024 * 1024;

type Kinds = ReadonlyMap<string, ServedKind>;

/** Reads from the cluster's discovery whether a kind is namespaced. */
export function createServedKinds(reads: Pick<OwnReads, 'kinds'>, clock: Clock): KindOf {
  const known = new BoundedMap<{ readonly at: number; readonly kinds: Promise<Kinds> }>(MOST_REMEMBERED);
  return async ({ group, version, resource }) => {
    const key = `${group}/${version}`;
    let document = known.get(key);
    if (!document || clock.monotonic() - document.at >= REMEMBERED_MS) {
      document = { at: clock.monotonic(), kinds: readKinds(reads, { group, version }) };
      known.set(key, document);
    }
    try {
      return (await document.kinds).get(resource);
    } catch {
      if (known.get(key) === document) known.delete(key);
      return undefined;
    }
  };
}

async function readKinds(
  reads: Pick<OwnReads, 'kinds'>,
  of: Pick<WholeCollection, 'group' | 'version'>,
): Promise<Kinds> {
  const chunks: Buffer[] = [];
  const tooLong = new AbortController();
  let status = 0;
  let bytes = 0;
  const start = (received: number): void => {
    status = received;
  };
  const data = (chunk: Buffer): undefined => {
    bytes += chunk.length;
    if (bytes > LONGEST_DOCUMENT) tooLong.abort();
    chunks.push(chunk);
  };
  await reads.kinds(of)({ start, data }, tooLong.signal);
  if (status !== 200) return new Map();
  const { resources } = asObject(JSON.parse(Buffer.concat(chunks).toString()));
  return new Map(
    asArray(resources)
      .map(asObject)
      .map(({ name, namespaced }) => [String(name), { namespaced: namespaced === true }]),
  );
}
