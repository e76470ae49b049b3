import type { Backoff } from '../backoff.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { SecretStore, StoredSecret } from '../secret-store.ts';
import type { ApiClient, ApiRequest, ApiResponse } from './api-client.ts';
import { ClusterError } from './cluster-error.ts';
import type { ListerWatcher } from './lister-watcher.ts';
import { encodeData, toSecretObject, toStoredSecret } from './secret-object.ts';
import { SecretWatch } from './secret-watch.ts';
import { withTimeLimit } from './time-limit.ts';

/** A Secret is read while somebody waits for a token or at start; the API server answers in milliseconds or not at all. */
const TIME_LIMIT_MS = 10_000;

export interface ClusterSecretsParts {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The source of one Secret's events: `fieldSelector=metadata.name=<name>`, which needs no right to list. */
  watcherOf(path: string, fieldSelector: string): ListerWatcher;
  newBackoff(): Backoff;
  /** Aborts when the connections are closed. */
  readonly closed: AbortSignal;
}

/** Secrets of one namespace, by name; needs get, create, update and watch, never list. */
export class ClusterSecrets implements SecretStore {
  readonly #parts: ClusterSecretsParts;
  readonly #path: string;

  constructor(parts: ClusterSecretsParts) {
    this.#parts = parts;
    this.#path = `/api/v1/namespaces/${encodeURIComponent(parts.namespace)}/secrets`;
  }

  async read(name: string): Promise<StoredSecret | undefined> {
    const response = await this.#get(name);
    return response && toStoredSecret(response.body);
  }

  async create(name: string, data: Readonly<Record<string, Buffer>>): Promise<StoredSecret | 'exists'> {
    const metadata = { name, labels: { 'app.kubernetes.io/managed-by': 'gatehouse' } };
    const body = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data: encodeData(data) };
    const response = await this.#send({ method: 'POST', path: this.#path, body });
    if (response.status === 409) return 'exists';
    return toStoredSecret(success(response, `creating the Secret ${name}`).body);
  }

  /** Reads first: labels, annotations and owners that others put on the Secret stay. */
  async update(
    name: string,
    data: Readonly<Record<string, Buffer>>,
    version: string,
  ): Promise<StoredSecret | 'conflict'> {
    const current = await this.#get(name);
    if (!current) return 'conflict';
    const object = toSecretObject(current.body);
    if (object.metadata.resourceVersion !== version) return 'conflict';
    const body = { ...object, data: encodeData(data) };
    const response = await this.#send({ method: 'PUT', path: this.#pathOf(name), body });
    if (response.status === 409 || response.status === 404) return 'conflict';
    return toStoredSecret(success(response, `updating the Secret ${name}`).body);
  }

  watch(name: string, onChange: (secret: StoredSecret | undefined) => void, signal: AbortSignal): Promise<void> {
    const { clock, logger, watcherOf, newBackoff } = this.#parts;
    const source = watcherOf(this.#path, `metadata.name=${name}`);
    const read = (): Promise<StoredSecret | undefined> => this.read(name);
    return new SecretWatch({ name, source, read, onChange, clock, logger, backoff: newBackoff() }).run(signal);
  }

  async #get(name: string): Promise<ApiResponse | undefined> {
    const response = await this.#send({ method: 'GET', path: this.#pathOf(name) });
    return response.status === 404 ? undefined : success(response, `reading the Secret ${name}`);
  }

  #pathOf = (name: string): string => `${this.#path}/${encodeURIComponent(name)}`;

  #send(request: Omit<ApiRequest, 'purpose'>): Promise<ApiResponse> {
    const { client, clock, closed } = this.#parts;
    return withTimeLimit(clock, { ms: TIME_LIMIT_MS, signals: [closed] }, (signal) =>
      client.json({ ...request, purpose: 'secrets' }, signal),
    );
  }
}

function success(response: ApiResponse, what: string): ApiResponse {
  if (response.status > 299) throw new ClusterError(what, response);
  return response;
}
