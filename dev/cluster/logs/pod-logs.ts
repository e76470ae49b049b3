import type { Clock } from '../../../src/runtime/clock.ts';
import { isRecord, type KubeObject, memberAt } from '../kube-object.ts';
import type { ObjectStore } from '../object-store.ts';

/** The lines of one instance of a container that are kept: a demo may write for days. */
const MOST_LINES = 5_000;
/** The containers whose logs are kept; above it, the one that wrote longest ago is forgotten. */
const MOST_CONTAINERS = 2_000;
const NANOS_PER_MS = 1_000_000;

interface StoredLine {
  /** RFC 3339 with nine digits of the second. */
  readonly time: string;
  readonly text: string | Buffer;
}

/** What one instance of a container has written. */
export interface LogInstance {
  /** How often the container had been restarted before it. */
  readonly restarts: number;
  readonly lines: StoredLine[];
  /** How many lines were dropped at the beginning. */
  dropped: number;
}

interface ContainerLogs {
  current: LogInstance;
  previous: LogInstance | undefined;
}

/**
 * What containers write. As a kubelet does it, a container that is restarted begins a new log and the one before is kept: its status in
 * the store (`restartCount`) says when that is.
 */
export class PodLogs {
  readonly #objects: ObjectStore;
  readonly #clock: Clock;
  readonly #logs = new Map<string, ContainerLogs>();
  /** The readers of logs, each with the pod that it reads. */
  readonly #listeners = new Map<() => void, string>();
  #lastTime = '';
  #nanos = 0;

  constructor(objects: ObjectStore, clock: Clock) {
    this.#objects = objects;
    this.#clock = clock;
  }

  /** Writes lines of a container of the pod `namespace/name`. Each has a time of its own. Does nothing for a pod that is not there. */
  write(pod: string, container: string, ...texts: readonly (string | Buffer)[]): void {
    const object = this.#objects.get('pods', pod);
    if (!object) return;
    const { current } = this.of(object, container);
    for (const text of texts) current.lines.push({ time: this.#time(), text });
    const surplus = Math.max(0, current.lines.length - MOST_LINES);
    current.lines.splice(0, surplus);
    current.dropped += surplus;
    for (const tell of [...this.#listeners.keys()]) tell();
  }

  /** The number of answers that send a log now. */
  get readers(): number {
    return this.#listeners.size;
  }

  /** The pods, as `namespace/name`, whose logs are being sent. */
  get followed(): readonly string[] {
    return [...new Set(this.#listeners.values())];
  }

  /** Calls `tell` after each write, for a reader of this pod. */
  subscribe(pod: string, tell: () => void): () => void {
    this.#listeners.set(tell, pod);
    return () => this.#listeners.delete(tell);
  }

  /** The log of a container, of the instance that its status names and of the one before. */
  of(pod: KubeObject, container: string): Readonly<ContainerLogs> {
    const key = `${pod.metadata.uid}/${container}`;
    const restarts = restartsOf(pod, container);
    const known = this.#logs.get(key);
    const fresh = (): LogInstance => ({ restarts, lines: [], dropped: 0 });
    const logs = known ?? { current: fresh(), previous: undefined };
    if (logs.current.restarts !== restarts) {
      logs.previous = logs.current;
      logs.current = fresh();
    }
    this.#logs.delete(key);
    this.#logs.set(key, logs);
    const [oldest] = this.#logs.keys();
    if (this.#logs.size > MOST_CONTAINERS && oldest !== undefined) this.#logs.delete(oldest);
    return logs;
  }

  /** The time now, with nanoseconds that differ for each line. */
  #time(): string {
    const iso = new Date(this.#clock.now()).toISOString();
    this.#nanos = iso === this.#lastTime ? (this.#nanos + 1) % NANOS_PER_MS : 0;
    this.#lastTime = iso;
    return iso.replace('Z', `${String(this.#nanos).padStart(6, '0')}Z`);
  }
}

/** The status of a container, of any of the three lists. */
export function statusOfContainer(pod: KubeObject, container: string): Readonly<Record<string, unknown>> | undefined {
  const lists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'];
  const all = lists.flatMap((list) => (pod.status?.[list] ?? []) as unknown[]);
  return all.filter(isRecord).find(({ name }) => name === container);
}

function restartsOf(pod: KubeObject, container: string): number {
  const restarts = memberAt(statusOfContainer(pod, container), ['restartCount']);
  return typeof restarts === 'number' ? restarts : 0;
}
