import type { Failure } from '../../../../src/kubernetes/reflector/failure.ts';
import type {
  ListerWatcher,
  ListPage,
  WatchRequest,
  WatchSink,
} from '../../../../src/kubernetes/reflector/lister-watcher.ts';
import { event, initialEventsEnd } from '../../kubernetes/objects.ts';

export interface ServedPod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly spec: { readonly nodeName: string; readonly containers: readonly object[] };
  readonly status: { readonly phase: string };
}

interface PodChange {
  readonly version: number;
  readonly object: ServedPod;
  readonly previous: ServedPod | undefined;
  readonly isRemoval: boolean;
}

type Selects = (pod: ServedPod) => boolean;

export const isCounted: Selects = ({ spec, status }) =>
  spec.nodeName !== '' && status.phase !== 'Succeeded' && status.phase !== 'Failed';

/** The pods of an API server, whose watches bring each change only when the test says so. */
export class PodServer {
  readonly #pods = new Map<string, ServedPod>();
  readonly #history: PodChange[] = [];
  readonly hasWatchList: boolean;
  version = 1_000;
  #compacted = 0;
  #uids = 0;
  watches: ServedWatch[] = [];

  constructor(hasWatchList: boolean) {
    this.hasWatchList = hasWatchList;
  }

  get(name: string): ServedPod | undefined {
    return this.#pods.get(name);
  }

  put(name: string, change: { nodeName?: string; phase?: string; cpu?: number }): void {
    const previous = this.#pods.get(name);
    const nodeName = change.nodeName ?? previous?.spec.nodeName ?? '';
    const phase = change.phase ?? previous?.status.phase ?? 'Pending';
    const resources = { requests: { cpu: `${change.cpu ?? 1}` } };
    const containers = change.cpu || !previous ? [{ name: 'main', resources }] : previous.spec.containers;
    const resourceVersion = `${++this.version}`;
    const uid = previous?.metadata.uid ?? `uid-${++this.#uids}`;
    const object = {
      metadata: { name, namespace: 'default', uid, resourceVersion },
      spec: { nodeName, containers },
      status: { phase },
    };
    this.#pods.set(name, object);
    this.#history.push({ version: this.version, object, previous, isRemoval: false });
  }

  remove(name: string): void {
    const previous = this.#pods.get(name);
    if (!previous) return;
    const metadata = { ...previous.metadata, resourceVersion: `${++this.version}` };
    this.#pods.delete(name);
    this.#history.push({ version: this.version, object: { ...previous, metadata }, previous, isRemoval: true });
  }

  /** A change of another kind. */
  advance(): void {
    this.version++;
  }

  compact(): void {
    this.#compacted = this.version;
  }

  changesAfter(version: number): readonly PodChange[] | undefined {
    return version < this.#compacted ? undefined : this.#history.filter((change) => change.version > version);
  }

  /** The pods as they were at this version. */
  at(version: number): ServedPod[] {
    const pods = new Map<string, ServedPod>();
    for (const { object, isRemoval, version: changed } of this.#history) {
      if (changed > version) break;
      if (isRemoval) pods.delete(object.metadata.name);
      else pods.set(object.metadata.name, object);
    }
    return [...pods.values()];
  }

  source(selects: Selects = () => true): ListerWatcher {
    return {
      list: ({ version }): Promise<ListPage> => {
        const at = typeof version === 'object' && 'exact' in version ? Number(version.exact) : this.version;
        const items = this.at(at).filter(selects);
        return Promise.resolve({ kind: 'page', resourceVersion: `${at}`, continueToken: '', items });
      },
      watch: (request, sink, signal) => this.#watch(new ServedWatch({ server: this, selects, request, sink }), signal),
    };
  }

  async #watch(watch: ServedWatch, signal: AbortSignal): Promise<Failure> {
    if (watch.request.initialEvents && !this.hasWatchList) return { kind: 'unsupported' };
    this.watches.push(watch);
    if (signal.aborted) watch.end({ kind: 'aborted' });
    signal.addEventListener('abort', () => watch.end({ kind: 'aborted' }), { once: true });
    const failure = await watch.ended;
    this.watches = this.watches.filter((other) => other !== watch);
    return failure;
  }
}

interface ServedWatchParts {
  readonly server: PodServer;
  readonly selects: Selects;
  readonly request: WatchRequest;
  readonly sink: WatchSink;
}

class ServedWatch {
  readonly request: WatchRequest;
  readonly #parts: ServedWatchParts;
  readonly #end = Promise.withResolvers<Failure>();
  readonly ended = this.#end.promise;
  #isOver = false;
  #isOpen = false;
  #at = 0;

  constructor(parts: ServedWatchParts) {
    this.#parts = parts;
    this.request = parts.request;
  }

  end(failure: Failure): void {
    this.#isOver = true;
    this.#end.resolve(failure);
  }

  /** Accepts the watch if that is due, and then brings up to `most` of the changes that are due. */
  deliver(most: number): void {
    if (!this.#isOpen) this.#open();
    const changes = this.#parts.server.changesAfter(this.#at);
    if (!changes) this.end({ kind: 'expired' });
    for (const change of changes?.slice(0, most) ?? []) {
      if (this.#isOver) return;
      this.#at = change.version;
      this.#bring(change);
    }
  }

  bookmark(): void {
    this.deliver(Number.POSITIVE_INFINITY);
    const { version } = this.#parts.server;
    this.#tell('BOOKMARK', { metadata: { resourceVersion: `${version}` } });
    this.#at = version;
  }

  #open(): void {
    const { server, selects, request, sink } = this.#parts;
    this.#isOpen = true;
    this.#at = Number(request.resourceVersion);
    sink.accepted();
    if (!request.initialEvents) return;
    this.#at = server.version;
    for (const pod of server.at(server.version).filter(selects)) this.#tell('ADDED', pod);
    const end = initialEventsEnd(`${server.version}`);
    this.#tell(end.type, end.object);
  }

  /** The event that this watch gets for a change, if any. */
  #bring({ object, previous, isRemoval }: PodChange): void {
    const { selects } = this.#parts;
    const had = previous !== undefined && selects(previous);
    const has = !isRemoval && selects(object);
    if (has) this.#tell(had ? 'MODIFIED' : 'ADDED', object);
    else if (had) this.#tell('DELETED', object);
  }

  #tell(type: string, object: object): void {
    if (this.#isOver) return;
    this.#parts.sink.bytes();
    const failure = this.#parts.sink.event(event(type, object));
    if (failure) this.end(failure);
  }
}
