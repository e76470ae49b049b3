import type { WordsContext } from '../../../../src/kinds/words/kind-words.ts';
import { wordsOf } from '../../../../src/kinds/words/words-of.ts';
import type { KubernetesObject } from '../../../../src/kubernetes/object.ts';
import { createLister } from '../../../../src/resources/cache.ts';
import type { Kind } from '../../../../src/resources/entries/kind.ts';
import { ResourceStore } from '../../../../src/resources/entries/store.ts';
import { createListQueryParser } from '../../../../src/resources/query/list-query.ts';
import { createWatchQueryParser } from '../../../../src/resources/watch/watch-query.ts';
import { TimeSlices } from '../../../../src/runtime/time-slices.ts';
import { StatusError } from '../../../../src/status-error.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { replaceAll } from '../../../support/replace-all.ts';
import { synced, textOf } from '../../resources/node-objects.ts';

type Members = Readonly<Record<string, unknown>>;

const CONTEXT: WordsContext = {
  platform: 'gatehouse',
  selectorOf: () => undefined,
  annotationsOf: () => undefined,
};

/** `resource.group`, as the catalogue would describe it. */
export function kindOf(name: string, context: Partial<WordsContext> = {}): Kind {
  const dot = name.indexOf('.');
  const [resource, group] = [name.slice(0, dot), name.slice(dot + 1)];
  const namespaced = !/^(?:persistentvolumes|clusterroles|customresource|volumesnapshotc)/.test(resource);
  return {
    ...{ platform: 'gatehouse', group, version: 'v1', resource, kind: resource, singularName: resource },
    ...{ shortNames: [], namespaced },
    ...wordsOf({ group, resource }, { ...CONTEXT, ...context }),
  };
}

let made = 0;

/** An object in `namespace/name`, or of a cluster-scoped kind if there is no slash. */
export function object(key: string, rest: Members = {}, metadata: Members = {}): KubernetesObject {
  const [name = '', namespace] = key.split('/').toReversed();
  const version = `${++made}`;
  return {
    metadata: {
      ...{ name, uid: `uid-${key}`, resourceVersion: version, creationTimestamp: '2026-01-01T00:00:00Z' },
      ...(namespace !== undefined && { namespace }),
      ...metadata,
    },
    ...rest,
  };
}

/** A list and watches of a kind with words, in memory. */
export function listing(name: string, context: Partial<WordsContext> = {}) {
  const kind = kindOf(name, context);
  const clock = new FakeClock();
  const store = new ResourceStore(kind, new TimeSlices(clock));
  const lister = createLister({
    ...{ store, freshness: { all: synced }, maxStalenessMs: 1_000, clock, epoch: 'e1', exposeBytes: () => {} },
  });
  const parse = createListQueryParser(kind);
  const parseWatch = createWatchQueryParser(kind);
  const read = (query: string): { items: KubernetesObject[]; totalItems: number } =>
    JSON.parse(textOf(lister.list(parse(query)).body('identity').pieces));
  return {
    ...{ kind, store, lister },
    put: (...objects: readonly KubernetesObject[]) => {
      for (const one of objects) store.put(store.toEntry(one));
    },
    remove: (key: string) => store.remove(key, `${++made}`),
    /** Replaces everything. */
    relist: (...objects: readonly KubernetesObject[]) =>
      replaceAll(
        store,
        objects.map((one) => store.toEntry(one)),
        { sameHistory: true, resourceVersion: `${++made}` },
      ),
    /** The keys of a list, in its order. */
    keys: (query = ''): string => read(query).items.map(keyOf).join(' '),
    total: (query = ''): number => read(query).totalItems,
    /** What the parser says of a query that it refuses. */
    refusal: (query: string): string => {
      try {
        parse(query);
      } catch (error) {
        if (error instanceof StatusError) return error.answer.message;
      }
      return 'it was not refused';
    },
    watch: (query: string) => {
      const watch = lister.watch(parseWatch(`watch=true&${query}`), 'json');
      /** The events since the last call, as `ADDED a/x`. */
      return (): string[] => {
        let text = '';
        while (watch.isBehind) text += Buffer.from(watch.next() ?? []).toString();
        const lines = text.split('\n').filter((line) => line !== '');
        const events = lines.map((line) => JSON.parse(line) as { type: string; object: KubernetesObject });
        return events.filter(({ type }) => type !== 'BOOKMARK').map((event) => `${event.type} ${keyOf(event.object)}`);
      };
    },
  };
}

const keyOf = ({ metadata }: KubernetesObject): string =>
  metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
