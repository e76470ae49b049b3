import { type Clock, withTimeLimit } from '../../runtime/clock.ts';
import type { StoredSecret } from '../../secret-store.ts';
import { type ApiClient, type ApiRequest, type ApiResponse, ClusterError } from '../client/api-client.ts';
import { isKubernetesObject, type KubernetesObject } from '../object.ts';

/**
 * Secrets are read and written at start and while a caller waits for a token. The API server answers in milliseconds or
 * not at all.
 */
const TIME_LIMIT_MS = 10_000;

/** All our objects carry this label, so that `kubectl get secrets -l` finds them. */
const OWN_LABELS = { 'app.kubernetes.io/managed-by': 'gatehouse' };

type Data = Readonly<Record<string, Buffer>>;

export interface SecretRequestParts {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly clock: Clock;
  /** Aborts when the connections are closed. */
  readonly closed: AbortSignal;
}

/**
 * The requests about Secrets of one namespace. Each rejects when the cluster cannot be reached or answers with an
 * error.
 */
export class SecretRequests {
  /** The path of the collection. */
  readonly path: string;
  readonly #parts: SecretRequestParts;

  constructor(parts: SecretRequestParts) {
    this.#parts = parts;
    this.path = `/api/v1/namespaces/${encodeURIComponent(parts.namespace)}/secrets`;
  }

  async get(name: string): Promise<KubernetesObject | undefined> {
    const response = await this.#send({ method: 'GET', path: this.#pathOf(name) });
    return response.status === 404 ? undefined : toSecretObject(success(response, `reading the Secret ${name}`).body);
  }

  async create(
    name: string,
    data: Data,
    labels: Readonly<Record<string, string>> = {},
  ): Promise<KubernetesObject | 'exists'> {
    const metadata = { name, labels: { ...OWN_LABELS, ...labels } };
    const body = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data: encodeData(data) };
    const response = await this.#send({ method: 'POST', path: this.path, body });
    if (response.status === 409) return 'exists';
    return toSecretObject(success(response, `creating the Secret ${name}`).body);
  }

  /** Writes the object with other data. A compare-and-swap, by the object's `resourceVersion`. */
  async replace(object: KubernetesObject, data: Data): Promise<KubernetesObject | 'conflict'> {
    const { name } = object.metadata;
    const body = { ...object, apiVersion: 'v1', kind: 'Secret', data: encodeData(data) };
    const response = await this.#send({ method: 'PUT', path: this.#pathOf(name), body });
    if (response.status === 409 || response.status === 404) return 'conflict';
    return toSecretObject(success(response, `updating the Secret ${name}`).body);
  }

  /** Removes exactly this state of the object (`metav1.Preconditions`). */
  async remove({ metadata }: KubernetesObject): Promise<'removed' | 'conflict'> {
    const { name, uid, resourceVersion } = metadata;
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } };
    const response = await this.#send({ method: 'DELETE', path: this.#pathOf(name), body });
    if (response.status === 409) return 'conflict';
    if (response.status !== 404) success(response, `removing the Secret ${name}`);
    return 'removed';
  }

  #pathOf = (name: string): string => `${this.path}/${encodeURIComponent(name)}`;

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

export function toStoredSecret(object: KubernetesObject): StoredSecret {
  const data = (object['data'] ?? {}) as Record<string, unknown>;
  const decoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(String(text), 'base64')] as const);
  return { data: Object.fromEntries(decoded), version: object.metadata.resourceVersion };
}

/** Throws for anything but a Secret. The message never quotes its content. */
function toSecretObject(value: unknown): KubernetesObject {
  if (!isKubernetesObject(value)) throw new Error('the API server answered with something that is no Secret');
  return value;
}

function encodeData(data: Readonly<Record<string, Buffer>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, bytes]) => [key, bytes.toString('base64')]));
}
