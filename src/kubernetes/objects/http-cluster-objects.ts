import { type Clock, withTimeLimit } from '../../runtime/clock.ts';
import { asArray, asObject } from '../../runtime/text/json-value.ts';
import { type ApiClient, type ApiRequest, type ApiResponse, ClusterError } from '../client/api-client.ts';
import { isKubernetesObject, type KubernetesObject } from '../object.ts';
import { isAbsence } from '../status.ts';
import type {
  ClusterObjects,
  ListedObjects,
  ListOptions,
  NewObject,
  ObjectCollection,
  Preconditions,
  WriteOptions,
} from './cluster-objects.ts';
import { impersonationOf } from './impersonation.ts';

/** A caller waits for each of these requests. The API server answers in milliseconds or not at all. */
const TIME_LIMIT_MS = 10_000;

/** kubectl's page size. For a list with `mayBeOld` the API server ignores it and sends one page. */
const PAGE_SIZE = '500';

export interface ObjectRequestParts {
  readonly client: Pick<ApiClient, 'json'>;
  readonly clock: Clock;
  /** Aborts when the connections are closed. */
  readonly closed: AbortSignal;
}

/** The requests about the objects of one collection. */
export class HttpClusterObjects implements ClusterObjects, ListedObjects {
  readonly #collection: ObjectCollection;
  readonly #parts: ObjectRequestParts;
  readonly #path: string;
  readonly #type: { readonly kind: string; readonly apiVersion: string };

  constructor(collection: ObjectCollection, parts: ObjectRequestParts) {
    this.#collection = collection;
    this.#parts = parts;
    const { group, version, kind } = collection;
    this.#path = pathOf(collection);
    this.#type = { kind, apiVersion: group === '' ? version : `${group}/${version}` };
  }

  async get(name: string): Promise<KubernetesObject | undefined> {
    const response = await this.#send({ method: 'GET', path: this.#pathOf(name) });
    return isAbsent(response, name) ? undefined : this.#object(response, `reading ${this.#named(name)}`);
  }

  async find(name: string): Promise<KubernetesObject | undefined> {
    const query = new URLSearchParams({ fieldSelector: `metadata.name=${name}` });
    const response = await this.#send({ method: 'GET', path: `${this.#path}?${query}` });
    const { items } = asObject(success(response, `reading ${this.#named(name)}`).body);
    const [object] = asArray(items);
    return object === undefined ? undefined : toObject(object);
  }

  async list(labelSelector: string, options: ListOptions = {}): Promise<readonly KubernetesObject[]> {
    const again = (error: unknown): Promise<readonly KubernetesObject[]> => {
      if (isExpiredToken(error)) return this.#pages(labelSelector, options);
      throw error;
    };
    return this.#pages(labelSelector, options).catch(again);
  }

  /** All pages show one version, that of the first page. */
  async #pages(labelSelector: string, { mayBeOld = false }: ListOptions): Promise<readonly KubernetesObject[]> {
    const found: KubernetesObject[] = [];
    let from: Readonly<Record<string, string>> | undefined = mayBeOld ? { resourceVersion: '0' } : {};
    while (from) {
      const query = new URLSearchParams({ labelSelector, limit: PAGE_SIZE, ...from });
      const response = await this.#send({ method: 'GET', path: `${this.#path}?${query}` });
      const { items, metadata } = asObject(success(response, `listing ${this.#collection.resource}`).body);
      for (const item of asArray(items)) found.push(toObject(item));
      const token = asObject(metadata)['continue'];
      from = typeof token === 'string' && token !== '' ? { continue: token } : undefined;
    }
    return found;
  }

  async create(object: NewObject, options: WriteOptions = {}): Promise<KubernetesObject> {
    const body = { ...this.#type, ...object };
    const response = await this.#send({ method: 'POST', path: this.#path + dryRunOf(options), body }, options);
    const { body: made } = success(response, `creating ${this.#named(object.metadata.name)}`);
    return toObject(options.dryRun ? withVersion(made) : made);
  }

  async replace(object: KubernetesObject, options: WriteOptions = {}): Promise<KubernetesObject> {
    const { name } = object.metadata;
    const body = { ...object, ...this.#type };
    const response = await this.#send({ method: 'PUT', path: this.#pathOf(name) + dryRunOf(options), body }, options);
    return this.#object(response, `replacing ${this.#named(name)}`);
  }

  async patch(
    name: string,
    patch: object,
    options: WriteOptions & { readonly subresource?: 'status' } = {},
  ): Promise<KubernetesObject> {
    const path = `${this.#pathOf(name)}${options.subresource ? `/${options.subresource}` : ''}${dryRunOf(options)}`;
    const response = await this.#send({ method: 'PATCH', path, body: patch }, options);
    return this.#object(response, `changing ${this.#named(name)}`);
  }

  async remove(
    name: string,
    preconditions: Preconditions = {},
    options: WriteOptions = {},
  ): Promise<'removed' | 'absent'> {
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions,
      ...(options.dryRun ? { dryRun: [DRY_RUN] } : {}),
    };
    const response = await this.#send({ method: 'DELETE', path: this.#pathOf(name), body }, options);
    if (isAbsent(response, name)) return 'absent';
    success(response, `removing ${this.#named(name)}`);
    return 'removed';
  }

  /** Throws for an empty name, with which the request would be about the whole collection, and for `.` and `..`. */
  #pathOf(name: string): string {
    if (/^\.{0,2}$/.test(name)) throw new Error(`"${name}" names no object`);
    return `${this.#path}/${encodeURIComponent(name)}`;
  }

  #named = (name: string): string => `the ${this.#collection.kind} ${name}`;

  #object(response: ApiResponse, what: string): KubernetesObject {
    return toObject(success(response, what).body);
  }

  async #send(request: Omit<ApiRequest, 'purpose'>, { as, dryRun }: WriteOptions = {}): Promise<ApiResponse> {
    const { client, clock, closed } = this.#parts;
    const whose = as
      ? ({ impersonation: impersonationOf(as), purpose: 'objects_as_caller' } as const)
      : ({ purpose: dryRun ? 'objects_dry_run' : (this.#collection.purpose ?? 'objects') } as const);
    return withTimeLimit(clock, { ms: TIME_LIMIT_MS, signals: [closed] }, (signal) =>
      client.json({ ...request, ...whose }, signal),
    );
  }
}

function pathOf({ group, version, resource, namespace }: ObjectCollection): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${root}${namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`}/${resource}`;
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run */
const DRY_RUN = 'All';
const dryRunOf = ({ dryRun }: WriteOptions): string => (dryRun ? `?dryRun=${DRY_RUN}` : '');

const isAbsent = ({ status, body }: ApiResponse, name: string): boolean => status === 404 && isAbsence(body, name);

/** Whether the version of the first page was compacted meanwhile, so that the list has to begin again. */
const isExpiredToken = (error: unknown): boolean => error instanceof ClusterError && error.status.code === 410;

function success(response: ApiResponse, what: string): ApiResponse {
  if (response.status > 299) throw new ClusterError(what, response);
  return response;
}

/** Throws for anything but an object. */
function toObject(value: unknown): KubernetesObject {
  if (!isKubernetesObject(value)) throw new Error('the API server answered with something that is not an object');
  return value;
}

/** The version of an object that a dry run would create, which has none yet. No stored object has this version. */
const NO_VERSION = '0';

function withVersion(value: unknown): object {
  const metadata = asObject(asObject(value)['metadata']);
  return { ...asObject(value), metadata: { ...metadata, resourceVersion: metadata['resourceVersion'] ?? NO_VERSION } };
}
