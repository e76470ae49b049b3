/** A session as it is saved between two runs. Times are milliseconds since 1970. */
export interface SavedSession {
  readonly server: string;
  readonly clientId: string;
  /** The name or e-mail that was typed at the sign-in, or given by `--username`; else the user's name as the server knows it. */
  readonly username: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** From this time on the access token is no longer given to clients. */
  readonly goodUntil: number;
  /** When the server was last asked whether the session is valid. */
  readonly checkedAt: number;
}

/** The pair of tokens of a token response (docs/contract/tokens.md, section 2.2). */
export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly lifetimeSeconds: number;
}

/**
 * The token is renewed this long before it expires: a request that starts with it must arrive while it is valid, and
 * clocks differ. Clients get this earlier time as the expiry, so that they run the plug-in when it renews.
 */
const MARGIN_MS = 30_000;

/** The session with this pair of tokens. The lifetime is counted from `askedAt`, when the request was sent, so it is never too long. */
export function withPair(
  who: Pick<SavedSession, 'server' | 'clientId' | 'username'>,
  { accessToken, refreshToken, lifetimeSeconds }: TokenPair,
  askedAt: number,
): SavedSession {
  const lifetimeMs = lifetimeSeconds * 1000;
  // The last token of a session may have a lifetime shorter than the margin.
  const goodUntil = askedAt + lifetimeMs - Math.min(MARGIN_MS, lifetimeMs / 2);
  const { server, clientId, username } = who;
  return { server, clientId, username, accessToken, refreshToken, goodUntil, checkedAt: askedAt };
}

const TEXTS = ['server', 'clientId', 'username', 'accessToken', 'refreshToken'] as const;
const INSTANTS = ['goodUntil', 'checkedAt'] as const;

/** Parses the text of a session file; `undefined` when it is something else. */
export function parseSession(text: string): SavedSession | undefined {
  try {
    const value = Object(JSON.parse(text)) as SavedSession;
    const isSession =
      TEXTS.every((name) => typeof value[name] === 'string') && INSTANTS.every((name) => Number.isFinite(value[name]));
    return isSession ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether the session can be given to a client as it is: its token is still good, and the server was asked at `checkedSince` or later.
 * A `checkedAt` in the future comes from another clock, so it proves nothing.
 */
export const isFresh = (
  { goodUntil, checkedAt }: SavedSession,
  { checkedSince, now }: { readonly checkedSince: number; readonly now: number },
): boolean => now < goodUntil && checkedAt >= checkedSince && checkedAt <= now;

/** The user's name as the server knows it, read from the access token; the typed name when the token has none. */
export const nameOf = ({ accessToken, username }: SavedSession): string => usernameIn(accessToken) ?? username;

/** The name of an access token's user; `undefined` if there is no name that every terminal can show. */
export function usernameIn(accessToken: string): string | undefined {
  try {
    const claims = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString());
    return /^[\w.@-]+$/.test(claims.username) ? claims.username : undefined;
  } catch {
    return undefined;
  }
}
