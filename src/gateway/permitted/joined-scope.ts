import type { PermittedScope } from '../../authorization/permitted-scope.ts';

type Awaitable = PermittedScope | Promise<PermittedScope>;

/** The namespaces of both scopes. Its id changes when one of the two does. */
export async function joinScopes(first: Awaitable, second: Awaitable): Promise<PermittedScope> {
  const [one, other] = await Promise.all([first, second]);
  const names = new Set([...one.names, ...other.names]);
  return { id: `${one.id}+${other.id}`, names, has: (namespace) => names.has(namespace) };
}
