import type { PermittedScope } from '../../authorization/permitted-scope.ts';

type Awaitable = PermittedScope | Promise<PermittedScope>;

/** What a list or watch is about. */
export interface ViewedScope {
  /** The namespaces of which it tells. */
  readonly scope: PermittedScope;
  /** The scope of the caller's lists: a client has the objects of that. */
  readonly viewId: string;
  /** Whether the scope lacks namespaces that a list has: then the client does not hear of changes there. */
  readonly isPartial: boolean;
}

/** What a watch tells of: the namespaces in which the caller may list and watch. */
export async function watchedScope(list: Awaitable, watch: Awaitable): Promise<ViewedScope> {
  const [listed, watched] = await Promise.all([list, watch]);
  if (listed.id === watched.id) return { scope: watched, viewId: listed.id, isPartial: false };
  const names = new Set([...watched.names].filter((name) => listed.has(name)));
  const isPartial = names.size < listed.names.size;
  return { scope: scopeOf(`${listed.id}&${watched.id}`, names), viewId: listed.id, isPartial };
}

const scopeOf = (id: string, names: ReadonlySet<string>): PermittedScope => ({
  id,
  names,
  has: (namespace) => names.has(namespace),
});
