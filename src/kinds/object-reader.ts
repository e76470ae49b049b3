import { hash } from 'node:crypto';
import { ClusterError } from '../kubernetes/client/api-client.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import type { ClusterKind } from '../kubernetes/discovery/cluster-kind.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { objectComposer, selectionComposer } from '../resources/bytes/list-body.ts';
import { type Representation, VersionedRepresentation } from '../resources/bytes/representation.ts';
import { type Entry, toEntry } from '../resources/entries/entry.ts';
import type { Kind } from '../resources/entries/kind.ts';
import { typeMembers } from '../resources/entries/object-kind.ts';
import { mapAtOnce } from '../runtime/limits/map-at-once.ts';
import type { TimeSlices } from '../runtime/time-slices.ts';
import { StatusError, serviceUnavailable } from '../status-error.ts';
import { qualifiedName } from './catalog/kind-answer.ts';
import type { Annotate } from './claim-annotations.ts';

export interface ObjectReaderParts {
  readonly cluster: Pick<Cluster, 'objects'>;
  readonly slices: TimeSlices;
  /** The kind as answers show it, whole. */
  kindValueOf(kind: ClusterKind): Kind;
}

interface ObjectName {
  /** `''` for a cluster-scoped kind. */
  readonly namespace: string;
  readonly name: string;
}

interface Page {
  readonly entries: readonly Entry[];
  /** Of all pages. */
  readonly total: number;
  /** Part of the ETag: `Within.id`. */
  readonly scope: string | undefined;
}

/** How many objects of a page are read at a time. */
const AT_ONCE = 16;
const RETRY_SECONDS = 5;

/** Reads objects one by one from the cluster, with our own rights. The caller's rights are checked before. */
export class ObjectReader {
  readonly #parts: ObjectReaderParts;

  constructor(parts: ObjectReaderParts) {
    this.#parts = parts;
  }

  /** `undefined` if there is no such object. Rejects with a `StatusError`: 403 if the cluster refuses us the kind, else 503. */
  async one(
    kind: ClusterKind,
    name: ObjectName,
    signal: AbortSignal,
    annotate?: Annotate,
  ): Promise<Representation | undefined> {
    const read = await this.#read(kind, name, signal);
    if (!read) return undefined;
    const [entry = read] = (await annotate?.([read])) ?? [];
    const members = typeMembers(this.#parts.kindValueOf(kind));
    return new VersionedRepresentation(tagOf([entry]), objectComposer(entry.encoded, members), this.#parts.slices);
  }

  /** These objects as they are now, without those that are not there. Rejects as `one` does. */
  async entries(kind: ClusterKind, names: readonly ObjectName[], signal: AbortSignal): Promise<readonly Entry[]> {
    const read = await mapAtOnce(names, (name) => this.#read(kind, name, signal), { most: AT_ONCE, signal });
    return read.filter((entry) => entry !== undefined);
  }

  /** The answer with these objects. */
  page({ entries, total, scope = '' }: Page): Representation {
    const composer = selectionComposer({ entries, total });
    return new VersionedRepresentation(tagOf(entries, `${total} ${scope}`), composer, this.#parts.slices);
  }

  async #read(kind: ClusterKind, { namespace, name }: ObjectName, signal: AbortSignal): Promise<Entry | undefined> {
    const { group, version, resource } = kind;
    const collection = {
      group,
      version,
      resource,
      kind: kind.kind,
      ...(namespace && { namespace }),
      purpose: 'objects_of_kinds',
    } as const;
    signal.throwIfAborted();
    const object = await this.#parts.cluster
      .objects(collection)
      .find(name)
      .catch((error) => {
        // The kind itself is gone, as when its definition was removed.
        if (error instanceof ClusterError && error.status.code === 404) return undefined;
        throw refusalOf(error, kind);
      });
    return object && this.#toEntry(kind, object);
  }

  #toEntry(kind: ClusterKind, object: KubernetesObject): Entry {
    return toEntry(object, this.#parts.kindValueOf(kind));
  }
}

function refusalOf(error: unknown, kind: ClusterKind): StatusError {
  const name = qualifiedName(kind);
  if (error instanceof ClusterError && error.status.code === 403)
    return new StatusError('Forbidden', {
      message: `${name} are not available: the cluster does not let this server list them`,
    });
  return serviceUnavailable(`${name} are not available: the cluster does not answer`, RETRY_SECONDS, error);
}

/** Equal tags mean equal bytes: an object with this uid never has another state with this version, except for the annotations that we add. */
const tagOf = (entries: readonly Entry[], more = ''): string =>
  hash(
    'sha256',
    `${more}\n${entries.map(({ uid, resourceVersion, encoded }) => `${uid} ${resourceVersion} ${encoded.added}`).join('\n')}`,
    'hex',
  ).slice(0, 32);
