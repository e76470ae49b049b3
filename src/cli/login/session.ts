/** What one sign-in began, as it is kept between two runs. Instants are milliseconds since 1970. */
export interface SavedSession {
  readonly server: string;
  readonly clientId: string;
  /** What was typed at the sign-in: a name, or an e-mail. */
  readonly username: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** From this time on the access token is no longer handed out. */
  readonly goodUntil: number;
  /** When the server was last asked whether the session stands. */
  readonly checkedAt: number;
}

/** The pair of tokens of a token response (docs/contract/tokens.md, section 2.2). */
export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly lifetimeSeconds: number;
}

/**
 * Renews this long before the end: a request that begins with the token must arrive with it, and clocks differ. It is
 * also the end that a client gets, so that both renew at the same time.
 */
const MARGIN_MS = 30_000;

/** The session with this pair, which was asked for at `askedAt`: the lifetime counted from then is never too long. */
export function withPair(
  who: Pick<SavedSession, 'server' | 'clientId' | 'username'>,
  { accessToken, refreshToken, lifetimeSeconds }: TokenPair,
  askedAt: number,
): SavedSession {
  const lifetimeMs = lifetimeSeconds * 1000;
  // The last token of a session may live shorter than the margin.
  const goodUntil = askedAt + lifetimeMs - Math.min(MARGIN_MS, lifetimeMs / 2);
  const { server, clientId, username } = who;
  return { server, clientId, username, accessToken, refreshToken, goodUntil, checkedAt: askedAt };
}

const TEXTS = ['server', 'clientId', 'username', 'accessToken', 'refreshToken'] as const;
const INSTANTS = ['goodUntil', 'checkedAt'] as const;

/** The text of a session file. `undefined`: it is something else. */
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

/** The user's name as the server knows it, read from the access token; the typed name when the token has none. */
export function nameOf({ accessToken, username }: SavedSession): string {
  try {
    const claims = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString());
    return /^[\w.@-]+$/.test(claims.username) ? claims.username : username;
  } catch {
    return username;
  }
}
