import { unauthorized } from './status.ts';

/** The identity of a caller. */
export interface Identity {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  /** Further information from the authenticator. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

const ANONYMOUS: Identity = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/** The caller of a request: anonymous without credentials, 401 with a token that is not known. */
export function authenticate(authorization: string | undefined, tokens: ReadonlyMap<string, Identity>): Identity {
  if (authorization === undefined) return ANONYMOUS;
  const [, token = ''] = /^bearer +(\S+)$/i.exec(authorization.trim()) ?? [];
  const known = tokens.get(token);
  if (!known) throw unauthorized();
  return withAuthenticated(known);
}

/** Adds `system:authenticated`, the group of every authenticated caller. */
export const withAuthenticated = (identity: Identity): Identity => ({
  ...identity,
  groups: [...new Set([...identity.groups, 'system:authenticated'])],
});
