import type { PermittedScope } from '../../authorization/permitted-scope.ts';
import { elementsAt, memberAt, plainString } from './json-text.ts';

/** Whether the object at `at` is a Table. Its kind comes first, so nothing else of an object is read. */
export const isTable = (json: Buffer, at: number): boolean => plainString(json, memberAt(json, at, 'kind')) === 'Table';

/**
 * Says which objects are in a scope. What has no readable namespace is not: an object that we cannot place is never shown.
 */
export class ScopeFilter {
  readonly #scope: PermittedScope;
  readonly #field: 'namespace' | 'name';

  /** `isOfNamespaces`: the objects are namespaces themselves, and their own names count. */
  constructor(
    scope: Pick<PermittedScope, 'has' | 'id' | 'names'>,
    { isOfNamespaces }: { readonly isOfNamespaces: boolean },
  ) {
    this.#scope = scope;
    this.#field = isOfNamespaces ? 'name' : 'namespace';
  }

  /** Whether the item, or the row of a Table, of a list is in the scope. */
  hasItem(item: Buffer, array: string): boolean {
    return this.#hasObject(item, array === 'rows' ? memberAt(item, 0, 'object') : 0);
  }

  /** Whether the object of a watch event is in the scope; of a Table, all of its rows. */
  hasEvent(event: Buffer): boolean {
    const object = memberAt(event, 0, 'object');
    if (!isTable(event, object)) return this.#hasObject(event, object);
    const elements = elementsAt(event, memberAt(event, object, 'rows'));
    return elements.length > 0 && elements.every((row) => this.#hasObject(event, memberAt(event, row, 'object')));
  }

  #hasObject(json: Buffer, at: number): boolean {
    const place = plainString(json, memberAt(json, memberAt(json, at, 'metadata'), this.#field));
    return place !== undefined && this.#scope.has(place);
  }
}
