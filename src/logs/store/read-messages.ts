import { asObject } from '../../kubernetes/object.ts';
import { placeOf } from './search-answer.ts';

/** How far an export has come, so that a new search can go on where the one before ended. */
export class ReadMessages {
  #place: number | undefined;
  /** The records of this place, since their order among one another may change. */
  readonly #atPlace = new Set<string>();

  /** The place in the order of time of the last record; `undefined`: there is none yet. */
  get place(): number | undefined {
    return this.#place;
  }

  /** Those of a piece that were not read yet; they count as read from now on. */
  take(hits: readonly unknown[]): readonly unknown[] {
    return hits.filter((hit) => {
      const place = placeOf(hit);
      if (place !== this.#place) {
        this.#place = place;
        this.#atPlace.clear();
      }
      const { _index: index, _id: id } = asObject(hit);
      if (typeof id !== 'string') return true;
      const name = `${index}/${id}`;
      if (this.#atPlace.has(name)) return false;
      this.#atPlace.add(name);
      return true;
    });
  }
}
