import { asObject } from '../../runtime/text/json-value.ts';
import { placeOf } from './search-answer.ts';

/** Remembers how far an export has read, so that a new search can go on where the previous one ended. */
export class ReadMessages {
  #place: number | undefined;
  /** The records that were read at this place: records of the same place may come in another order in the next search. */
  readonly #atPlace = new Set<string>();

  /** The place of the last record in the order of time; `undefined` before the first record. */
  get place(): number | undefined {
    return this.#place;
  }

  /** Returns the hits of a piece that were not read before, and remembers them as read. */
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
