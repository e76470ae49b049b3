import { mergePatch } from '../../../dev/cluster/merge-patch.ts';
import { ClusterError } from '../../../src/kubernetes/client/api-client.ts';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import type {
  ClusterObjects,
  NewObject,
  Preconditions,
  WriteOptions,
} from '../../../src/kubernetes/objects/cluster-objects.ts';

const refusal = (code: number, reason: string): ClusterError =>
  new ClusterError('it', { status: code, headers: {}, body: { kind: 'Status', code, reason } } as never);

/** A collection in memory that behaves like that of the API server. It records each write, and a test can make writes fail. */
export class MemoryObjects implements ClusterObjects {
  readonly #objects = new Map<string, KubernetesObject>();
  #version = 0;
  readonly writes: string[] = [];
  /** Thrown by every write while it is set. */
  failure: unknown;
  /** Whether there is a status subresource. If not, a patch of it gets a 404, and a patch of the object changes the status, too. */
  hasStatus = true;
  /** The number of next patches of the status that get a 404 in any case. */
  lostStatus = 0;
  /** Called when an object was changed or removed. */
  onChange: (name: string, object: KubernetesObject | undefined) => void = () => {};
  /** Called before each write. */
  before: (write: string) => void = () => {};

  all = (): readonly KubernetesObject[] => [...this.#objects.values()];
  peek = (name: string): KubernetesObject | undefined => this.#objects.get(name);
  get = async (name: string): Promise<KubernetesObject | undefined> => this.#objects.get(name);

  list = async (selector: string): Promise<readonly KubernetesObject[]> => {
    const [key = '', value] = selector.split('=');
    const isSelected = (label: string | undefined): boolean =>
      value === undefined ? key === '' || label !== undefined : label === value;
    return this.all().filter(({ metadata }) => isSelected(metadata.labels?.[key]));
  };

  create = async (object: NewObject, options: WriteOptions = {}): Promise<KubernetesObject> => {
    const { name } = object.metadata;
    this.#begin(`create ${name}`);
    if (this.#objects.has(name)) throw refusal(409, 'AlreadyExists');
    const uid = `uid-${name}-${this.#version + 1}`;
    const made = { ...object, metadata: { ...object.metadata, uid, resourceVersion: '0' } } as KubernetesObject;
    return options.dryRun ? made : this.#store(made);
  };

  replace = async (object: KubernetesObject): Promise<KubernetesObject> => {
    this.#begin(`replace ${object.metadata.name}`);
    this.#expect(object.metadata.name, object.metadata);
    return this.#store(object);
  };

  patch = async (
    name: string,
    patch: object,
    { subresource }: WriteOptions & { readonly subresource?: 'status' } = {},
  ): Promise<KubernetesObject> => {
    this.#begin(`patch ${name}${subresource ? '/status' : ''}`);
    if (subresource && (!this.hasStatus || this.lostStatus-- > 0)) throw refusal(404, 'NotFound');
    const stored = this.#expect(name, (patch as { metadata?: Preconditions }).metadata ?? {});
    const patched = mergePatch(stored, patch) as KubernetesObject;
    return this.#store(subresource || !this.hasStatus ? patched : { ...patched, status: stored['status'] });
  };

  remove = async (name: string, preconditions: Preconditions = {}): Promise<'removed' | 'absent'> => {
    this.#begin(`remove ${name}`);
    const stored = this.#objects.get(name);
    if (!stored) return 'absent';
    this.#expect(name, preconditions);
    const finalizers = stored.metadata['finalizers'] as readonly string[] | undefined;
    if (!finalizers?.length) this.#delete(name);
    else this.#store({ ...stored, metadata: { ...stored.metadata, deletionTimestamp: '2026-03-09T10:00:00Z' } });
    return 'removed';
  };

  /** Stores an object like another client, and calls `onChange`. */
  put = (object: KubernetesObject): KubernetesObject => this.#store(object);

  #begin(write: string): void {
    this.before(write);
    if (this.failure !== undefined) throw this.failure;
    this.writes.push(write);
  }

  #expect(name: string, { uid, resourceVersion }: Preconditions): KubernetesObject {
    const stored = this.#objects.get(name);
    if (!stored) throw refusal(404, 'NotFound');
    const isOther = uid !== undefined && uid !== stored.metadata.uid;
    const isStale = resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion;
    if (isOther || isStale) throw refusal(409, 'Conflict');
    return stored;
  }

  #store(object: KubernetesObject): KubernetesObject {
    const { name, finalizers, deletionTimestamp } = object.metadata;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } };
    const isDone = deletionTimestamp !== undefined && (finalizers as readonly string[] | undefined)?.length === 0;
    if (isDone) this.#delete(name);
    else {
      this.#objects.set(name, stored);
      this.onChange(name, stored);
    }
    return stored;
  }

  #delete(name: string): void {
    this.#objects.delete(name);
    this.onChange(name, undefined);
  }
}
