import type { Logger } from '../../observability/logger.ts';
import type { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { SecretStore, StoredSecret } from '../../secret-store.ts';
import type { ListerWatcher } from '../reflector/lister-watcher.ts';
import { type SecretRequests, toStoredSecret } from './secret-requests.ts';
import { SecretWatch } from './secret-watch.ts';

export interface ClusterSecretsParts {
  readonly requests: SecretRequests;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The source of one Secret's events: `fieldSelector=metadata.name=<name>`, which needs no right to list. */
  watcherOf(fieldSelector: string): ListerWatcher;
  newBackoff(): Backoff;
}

/** Secrets of one namespace, by name. Needs the rights to get, create, update and watch, but never to list. */
export class ClusterSecrets implements SecretStore {
  readonly #parts: ClusterSecretsParts;
  /** The last watch of each watched Secret. */
  readonly #watches = new Map<string, SecretWatch>();

  constructor(parts: ClusterSecretsParts) {
    this.#parts = parts;
  }

  async read(name: string): Promise<StoredSecret | undefined> {
    const object = await this.#parts.requests.get(name);
    return object && toStoredSecret(object);
  }

  async create(name: string, data: Readonly<Record<string, Buffer>>): Promise<StoredSecret | 'exists'> {
    const made = await this.#parts.requests.create(name, data);
    return made === 'exists' ? made : toStoredSecret(made);
  }

  /** Reads first, so that labels, annotations and owners stay that others put on the Secret. */
  async update(
    name: string,
    data: Readonly<Record<string, Buffer>>,
    version: string,
  ): Promise<StoredSecret | 'conflict'> {
    const current = await this.#parts.requests.get(name);
    if (current?.metadata.resourceVersion !== version) return 'conflict';
    const updated = await this.#parts.requests.replace(current, data);
    return updated === 'conflict' ? updated : toStoredSecret(updated);
  }

  watch(name: string, onChange: (secret: StoredSecret | undefined) => void, signal: AbortSignal): Promise<void> {
    const { clock, logger, watcherOf, newBackoff } = this.#parts;
    const source = watcherOf(`metadata.name=${name}`);
    const read = (): Promise<StoredSecret | undefined> => this.read(name);
    const watch = new SecretWatch({ name, source, read, onChange, clock, logger, backoff: newBackoff() });
    this.#watches.set(name, watch);
    return watch.run(signal);
  }

  stalenessMs = (name: string): number => this.#watches.get(name)?.stalenessMs() ?? Number.POSITIVE_INFINITY;
}
