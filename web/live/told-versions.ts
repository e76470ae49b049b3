import type { KubernetesObject } from '../api/objects.ts';
import type { Change } from './changes.ts';

/** Reads again because of one change. A replica that is further behind has lost the cluster, and its age says so. */
const MOST_TRIES = 5;
/** More changes than are on a few pages: those that nobody sees are forgotten. */
const MOST_TOLD = 1_000;

/**
 * The versions that the stream told of and that no read has brought yet: the stream may come from one replica, and the read be answered by
 * another that has not heard of the change.
 */
export class ToldVersions {
  readonly #told = new Map<string, { readonly version: number; tries: number }>();

  note(changes: readonly Change[]): void {
    for (const { type, uid, version } of changes)
      if (type === 'MODIFIED' && version !== '') this.#told.set(uid, { version: Number(version), tries: 0 });
    if (this.#told.size > MOST_TOLD) this.#told.clear();
  }

  /** Whether any of these objects, which were just read, is older than what was told of it, and is worth another read. */
  areBehind(objects: readonly KubernetesObject[]): boolean {
    // Every object is looked at, because each look counts a try or forgets what was told.
    return objects.filter((object) => this.#isBehind(object)).length > 0;
  }

  #isBehind({ metadata: { uid = '', resourceVersion = '' } }: KubernetesObject): boolean {
    const told = this.#told.get(uid);
    if (told === undefined) return false;
    // Versions of one kind are numbers that grow (Kubernetes API concepts, "Resource versions"); with others the comparison is false.
    if (Number(resourceVersion) < told.version && told.tries++ < MOST_TRIES) return true;
    this.#told.delete(uid);
    return false;
  }
}
