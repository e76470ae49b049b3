import type { IncomingMessage } from 'node:http';
import type { Random } from '../../runtime/random.ts';

/** Ties a page to the browser that asked for it, so that nobody can have a person sign in to a session of theirs (RFC 9700 4.7). */
export interface BrowserCookie {
  /** The value that the browser sent; `undefined` without one that we could have set. */
  read(request: IncomingMessage): string | undefined;
  /** A new value. */
  create(): string;
  /** The `Set-Cookie` that keeps this value until the browser is closed. */
  header(value: string): string;
}

/** 128 random bits in base64url. */
const ID_BYTES = 16;
const VALUE = /^[\w-]{22}$/;

/**
 * The prefix makes browsers accept the cookie from this very host over https alone. On plain http there is no such protection,
 * about which the issuer's warning at start says more.
 */
export function createBrowserCookie(
  { platform, issuer }: { readonly platform: string; readonly issuer: string },
  random: Random,
): BrowserCookie {
  const isSecure = issuer.startsWith('https://');
  const name = `${isSecure ? '__Host-' : ''}${platform}-browser`;
  const attributes = `; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    read: ({ headers: { cookie = '' } }) => {
      const pairs = cookie.split(';').map((pair) => pair.trim());
      const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
      const [value] = values;
      return value !== undefined && values.length === 1 && VALUE.test(value) ? value : undefined;
    },
    create: () => random.bytes(ID_BYTES).toString('base64url'),
    header: (value) => `${name}=${value}${attributes}`,
  };
}
