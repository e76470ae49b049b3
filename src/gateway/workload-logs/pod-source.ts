import type { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type CallerReads, isFailure, type RefusedRead } from './caller-reads.ts';
import { asList, asRecord, asText } from './json-members.ts';
import { type PodView, toPodView } from './pod-view.ts';
import type { Workload } from './workload.ts';

/** A page of the list of pods: 5 MB or so at once. */
const PAGE = 500;
/** The most pods of a workload. Only their views are kept; above it, the rest of the list is not read. */
const MOST_PODS = 10_000;
/** The longest event of a watch: an object has at most 1.5 MiB in etcd, and some more as JSON. */
const LONGEST_EVENT = 8 * 1024 * 1024;
const NEWLINE = 0x0a;

/** The pods of a workload at some version. */
export interface ListedPods {
  readonly pods: readonly PodView[];
  readonly version: string;
}

/** Is told of the pods of a workload. */
export interface PodListener {
  /** All pods there are. */
  listed(pods: readonly PodView[]): void;
  /** A pod that is new, or has changed. */
  changed(pod: PodView): void;
  removed(uid: string): void;
  /** The events of one piece are through. Nothing more is read until the promise has resolved. */
  flush(): Promise<void> | undefined;
}

interface PodSourceParts {
  readonly reads: CallerReads;
  readonly namespace: string;
  readonly workload: Workload;
  readonly backoff: Backoff;
  readonly clock: Clock;
}

/** Lists and watches the pods of a workload, as the caller. */
export class PodSource {
  readonly #parts: PodSourceParts;

  constructor(parts: PodSourceParts) {
    this.#parts = parts;
  }

  /** All pods now. Rejects as `CallerReads.document` does. */
  async list(signal: AbortSignal): Promise<ListedPods | RefusedRead> {
    const { reads, workload } = this.#parts;
    const pods: PodView[] = [];
    let version = '';
    for (let token = ''; ; ) {
      const page = await reads.document(
        this.#target({ limit: String(PAGE), ...(token && { continue: token }) }),
        signal,
      );
      if ('status' in page) {
        if (page.status !== 410 || token === '') return page;
        // The first page has become too old: the list begins again.
        pods.length = 0;
        token = '';
        continue;
      }
      const { items, metadata } = asRecord(page.value);
      for (const item of asList(items)) {
        const pod = toPodView(item);
        if (workload.has(pod)) pods.push(pod);
      }
      if (token === '') version = asText(asRecord(metadata)['resourceVersion']);
      token = asText(asRecord(metadata)['continue']);
      if (token === '' || pods.length >= MOST_PODS) return { pods, version };
    }
  }

  /**
   * Watches from this version on, and lists again where the cluster wants that, until the signal aborts. Resolves to the cluster's refusal
   * if the caller may no longer watch or list.
   */
  async watch(from: string, listener: PodListener, signal: AbortSignal): Promise<RefusedRead | undefined> {
    const { backoff, clock } = this.#parts;
    for (let version: string | undefined = from; !signal.aborted; ) {
      try {
        version ??= await this.#relist(listener, signal);
        version = await this.#watchOnce(version, listener, signal);
      } catch (error) {
        if (signal.aborted) return undefined;
        if (error instanceof Refused && error.read.status === 403) return error.read;
        if (!isFailure(error)) throw error;
      }
      if (!signal.aborted) await clock.sleep(backoff.failed(), signal);
    }
    return undefined;
  }

  async #relist(listener: PodListener, signal: AbortSignal): Promise<string> {
    const listed = await this.list(signal);
    if ('status' in listed) throw new Refused(listed);
    listener.listed(listed.pods);
    return listed.version;
  }

  /** One watch. Resolves to the version from which the next one goes on; `undefined` if there must be a list first. */
  async #watchOnce(from: string, listener: PodListener, signal: AbortSignal): Promise<string | undefined> {
    const { reads, backoff } = this.#parts;
    const state = { version: from as string | undefined, held: [] as Buffer[], heldBytes: 0 };
    const stop = new AbortController();
    const data = (chunk: Buffer): Promise<void> | undefined => {
      backoff.succeeded();
      let at = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, at)) {
        const line = Buffer.concat([...state.held, chunk.subarray(at, end)]);
        state.held = [];
        state.heldBytes = 0;
        at = end + 1;
        if (state.version !== undefined) state.version = this.#event(line, listener);
      }
      state.held.push(Buffer.from(chunk.subarray(at))); // a copy: the chunk belongs to the connection
      state.heldBytes += chunk.length - at;
      if (state.version === undefined || state.heldBytes > LONGEST_EVENT) stop.abort();
      return listener.flush();
    };
    const query = { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: from };
    try {
      const read = reads.stream('watch', this.#target(query), { data }, AbortSignal.any([signal, stop.signal]));
      const refused = await read;
      if (refused?.status === 410) return undefined;
      if (refused) throw new Refused(refused);
    } catch (error) {
      if (error instanceof Refused) throw error;
      // The versions that have come stay valid, whatever has broken the watch.
      if (!stop.signal.aborted && !isFailure(error)) throw error;
    }
    return stop.signal.aborted ? undefined : state.version;
  }

  /**
   * Hands on one event. Returns the version that is reached; `undefined` after an ERROR, which is
   * almost always a version that is too old, and after what cannot be read.
   */
  #event(line: Buffer, listener: PodListener): string | undefined {
    const { type, object } = asRecord(parsed(line));
    const version = asText(asRecord(asRecord(object)['metadata'])['resourceVersion']);
    if (type === 'ERROR' || version === '') return undefined;
    if (type === 'BOOKMARK') return version;
    const pod = toPodView(object);
    if (type === 'DELETED') listener.removed(pod.uid);
    else if (this.#parts.workload.has(pod)) listener.changed(pod);
    return version;
  }

  #target(query: Readonly<Record<string, string>>): string {
    const { namespace, workload } = this.#parts;
    return `/api/v1/namespaces/${namespace}/pods?${new URLSearchParams({ ...workload.selection, ...query })}`;
  }
}

/** The cluster has refused a list or a watch. */
class Refused extends Error {
  readonly read: RefusedRead;

  constructor(read: RefusedRead) {
    super(`the cluster answers ${read.status}`);
    this.read = read;
  }
}

/** The event; `undefined` for what is no JSON. */
function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString());
  } catch {
    return undefined;
  }
}
