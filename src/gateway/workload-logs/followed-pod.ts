import { ContainerLog, type ContainerLogParts } from './container-log.ts';
import type { PodView } from './pod-view.ts';
import { type PodEvent, toLine } from './records.ts';
import { SeenLines } from './seen-lines.ts';

/** How long a pod that is gone may still be read: its containers have ended, and the kubelet sends what it has within moments. */
const LEAVE_MS = 30_000;

export interface FollowedPodParts extends Omit<ContainerLogParts, 'seen' | 'pod' | 'isOld'> {
  /** Whether the pod was there when the stream began. */
  readonly wasThere: boolean;
  /** A pod of the same name that is leaving: this one is read after it. Pods of a stateful set keep their names. */
  readonly before: FollowedPod | undefined;
  /** Called when it is no longer read: it has left, or nothing more can come of it. */
  onQuiet(): void;
  /** Called when a read must not be made at all. */
  onFailed(error: unknown): void;
}

interface FollowedContainer {
  readonly log: ContainerLog;
  readonly seen: SeenLines;
}

/** Follows the logs of the containers of one pod. */
export class FollowedPod {
  readonly #parts: FollowedPodParts;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #containers = new Map<string, FollowedContainer>();
  readonly #left = Promise.withResolvers<void>();
  #view: PodView;
  /** How many logs are not over. */
  #open = 0;
  #hasBegun = false;
  #isGone = false;
  #hasLeft = false;

  constructor(view: PodView, parts: FollowedPodParts, signal: AbortSignal) {
    this.#view = view;
    this.#parts = parts;
    this.#signal = AbortSignal.any([signal, this.#stop.signal]);
    if (parts.before) void parts.before.left.then(() => this.#begin());
    else this.#begin();
  }

  get name(): string {
    return this.#view.name;
  }

  /** Whether something can still come of it. */
  get isOpen(): boolean {
    return !this.#hasLeft && (!this.#hasBegun || this.#open > 0 || this.#isGone);
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Resolves when it has left. */
  get left(): Promise<void> {
    return this.#left.promise;
  }

  update(view: PodView): void {
    this.#view = view;
    if (this.#hasBegun) this.#follow({ isOld: false });
  }

  /** The pod is gone: reads what is being read to its end, then tells that it has left. */
  gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    for (const { log } of this.#containers.values()) log.gone();
    const cancel = this.#parts.clock.after(LEAVE_MS, () => this.#stop.abort());
    void this.left.then(cancel);
    if (this.#hasBegun) this.#settle();
  }

  /** Ends its logs because the caller may no longer read them. */
  refuse(message: string): void {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    this.#tell('refused', message);
  }

  #begin(): void {
    if (this.#signal.aborted) return;
    this.#hasBegun = true;
    this.#tell('joined', this.#parts.wasThere ? 'there at the beginning' : 'new');
    if (!this.#isGone) this.#follow({ isOld: this.#parts.wasThere });
    this.#settle();
  }

  /** Follows the containers that are not followed yet, and tells the others how they are. */
  #follow({ isOld }: { readonly isOld: boolean }): void {
    const { request, before } = this.#parts;
    for (const view of this.#view.containers) {
      const { name } = view;
      if (request.container !== undefined && name !== request.container) continue;
      const known = this.#containers.get(name);
      if (known) {
        known.log.update(view);
        continue;
      }
      const seen = before?.seenOf(name) ?? new SeenLines();
      const log = new ContainerLog(view, { ...this.#parts, pod: this.name, seen, isOld: isOld && view.hasStarted });
      this.#containers.set(name, { log, seen });
      this.#open += 1;
      const ended = (): void => {
        this.#open -= 1;
        this.#settle();
      };
      log.run(this.#signal).then(ended, (error) => {
        ended();
        this.#parts.onFailed(error);
      });
    }
  }

  /** What was read of the container of this name. */
  seenOf(container: string): SeenLines | undefined {
    return this.#containers.get(container)?.seen;
  }

  #settle(): void {
    if (this.#open > 0 || this.#hasLeft || !this.#hasBegun) return;
    if (this.#isGone) {
      this.#hasLeft = true;
      this.#tell('left', 'gone');
      this.#left.resolve();
    }
    this.#parts.onQuiet();
  }

  #tell(event: PodEvent, message: string): void {
    void this.#parts.out.write(toLine({ type: 'pod', event, pod: this.name, message }));
  }
}
