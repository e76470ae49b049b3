import { signal } from '@preact/signals';
import type { PodRecord, StreamLine } from './stream-record.ts';

/** A pod whose lines are shown, or were. */
export interface ShownPod {
  readonly name: string;
  /** Its colour, by number: pods that are there together differ as long as there are colours. */
  readonly colour: number;
  readonly isHere: boolean;
}

/** The style has so many colours. */
const COLOURS = 8;
/** Pods that are gone are forgotten when there are more. */
const MOST = 200;

/** The pods and containers of a stream, as its records tell of them. */
export class ShownPods {
  /** By their names, those that came first before the others. */
  readonly pods = signal<ReadonlyMap<string, ShownPod>>(new Map());
  /** The names of all containers. */
  readonly containers = signal<readonly string[]>([]);

  readonly #pods = new Map<string, ShownPod>();
  readonly #containers = new Set<string>();
  /** Pods that the stream before this one has shown, and this one not yet. */
  #unseen = new Set<string>();
  #next = 0;
  #hasChanged = false;

  /** A stream begins: it tells of all its pods again. */
  opened(): void {
    this.#unseen = new Set([...this.#pods.values()].filter(({ isHere }) => isHere).map(({ name }) => name));
    for (const name of this.#unseen) this.#set(name, false);
  }

  noteLine({ pod, container }: StreamLine): void {
    if (!this.#pods.get(pod)?.isHere) this.#set(pod, true);
    if (this.#containers.has(container)) return;
    this.#containers.add(container);
    this.#hasChanged = true;
  }

  /** Notes an event. Returns whether the reader is to be told: not of a pod that was there in the stream before. */
  noteEvent({ event, pod }: PodRecord): boolean {
    const wasThere = event === 'joined' && this.#unseen.delete(pod);
    if (event === 'joined' || event === 'left') this.#set(pod, event === 'joined');
    return !wasThere;
  }

  /** Tells those who look. */
  show(): void {
    if (!this.#hasChanged) return;
    this.#hasChanged = false;
    this.pods.value = new Map(this.#pods);
    this.containers.value = [...this.#containers].toSorted();
  }

  #set(name: string, isHere: boolean): void {
    const colour = this.#pods.get(name)?.colour ?? this.#next++ % COLOURS;
    this.#pods.set(name, { name, colour, isHere });
    this.#hasChanged = true;
    for (const pod of this.#pods.values()) {
      if (this.#pods.size <= MOST) return;
      if (!pod.isHere) this.#pods.delete(pod.name);
    }
  }
}
