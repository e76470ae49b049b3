import { unauthorized } from './status.ts';

/** Who a caller is. */
export interface Identity {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  /** More that an authenticator tells. */
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

/** Every known caller is in `system:authenticated`, without being listed there. */
export const withAuthenticated = (identity: Identity): Identity => ({
  ...identity,
  groups: [...new Set([...identity.groups, 'system:authenticated'])],
});
