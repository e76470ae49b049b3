/**
 * The part of a list that a caller may see: the objects of these namespaces. In the list of namespaces itself, those with these names.
 * Never changes; when the rights do, another value takes its place.
 */
export interface Within {
  /**
   * Part of the ETag and of the versions of a watch, so that two callers with different rights never share an answer. Absent if the path
   * already names the namespace. It has no `~` and no blank in it.
   */
  readonly id?: string;
  readonly names: ReadonlySet<string>;
}

/** What `Within` reads of an object. */
interface Placed {
  readonly name: string;
  readonly namespace: string;
}

/** The name by which `Within` has an object of the kind. */
export const placeOf = ({ namespaced }: { readonly namespaced: boolean }): ((object: Placed) => string) =>
  namespaced ? ({ namespace }) => namespace : ({ name }) => name;
