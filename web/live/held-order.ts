import type { KubernetesObject } from '../api/objects.ts';
import type { Change } from './changes.ts';
import type { Rows } from './rows.ts';

/** The order of rows at which somebody points: it stands still, while what each row says goes on. */
export class HeldOrder {
  readonly #held: Map<number, KubernetesObject>;
  readonly #cameOrWent = new Set<string>();
  #isOther = false;

  constructor(rows: Rows) {
    this.#held = new Map(rows);
  }

  note(changes: readonly Change[]): void {
    for (const { type, uid } of changes) if (type !== 'MODIFIED') this.#cameOrWent.add(uid);
  }

  /** How many objects came, went, or would be elsewhere: at least one if the order is another one. */
  get waiting(): number {
    return Math.max(this.#cameOrWent.size, this.#isOther ? 1 : 0);
  }

  /**
   * Puts the newest state of each object where the object was. Places that nobody saw before are as in the list, and stand still from then on.
   * Places of the list, which has `total`, that are no longer in memory are given up.
   */
  arrange(places: Rows, total: number): Rows {
    const newest = new Map<string | undefined, KubernetesObject>();
    for (const object of places.values()) newest.set(object.metadata.uid, object);
    const shown = new Map(places);
    this.#isOther = false;
    for (const [place, object] of places) if (!this.#held.has(place)) this.#held.set(place, object);
    for (const [place, object] of this.#held) {
      const { uid } = object.metadata;
      const inList = places.get(place);
      if (inList === undefined && place < total) {
        this.#held.delete(place);
        continue;
      }
      if (inList && inList.metadata.uid !== uid) this.#isOther = true;
      const now = newest.get(uid) ?? object;
      // An object may leave the pages that are in memory: it then stays as it was last seen.
      this.#held.set(place, now);
      shown.set(place, now);
    }
    return shown;
  }
}
