import type { IncomingMessage } from 'node:http';
import type { Random } from '../../runtime/random.ts';

/** A cookie of the pages. Its value is a secret of the browser. */
interface BrowserCookie {
  /** The value that the browser sent; `undefined` without one that we could have set. */
  read(request: IncomingMessage): string | undefined;
  /** The `Set-Cookie` that keeps this value until the browser is closed; `''` removes the cookie. */
  header(value: string): string;
}

export interface BrowserCookieJar {
  /** Ties a page to the browser that asked for it, so that nobody can have a person sign in to a session of theirs (RFC 9700 4.7). */
  readonly browser: BrowserCookie & {
    /** A new value. */
    create(): string;
  };
  /** The sealed session of a signed-in person (B-27). */
  readonly session: BrowserCookie;
}

/** 128 random bits in base64url. */
const ID_BYTES = 16;
const ID = /^[\w-]{22}$/;

/** A JWE in compact form. Browsers accept 4,096 bytes with name and attributes. */
const SEALED = /^[\w.-]{1,3900}$/;

/**
 * The blanks that may be between two cookies. `trim` would remove U+00A0 as well: browsers take it for a part of the name, and so let
 * any host of the domain set a cookie that begins with it and goes on like one with a prefix.
 */
const BLANKS = /^[ \t]+/;

/**
 * The prefix makes browsers accept the cookies from this very host over https alone. On plain http there is no such protection,
 * about which the issuer's warning at start says more.
 */
export function createBrowserCookies(
  { platform, issuer }: { readonly platform: string; readonly issuer: string },
  random: Random,
): BrowserCookieJar {
  const isSecure = issuer.startsWith('https://');
  const prefix = `${isSecure ? '__Host-' : ''}${platform}`;
  const attributes = `; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  const create = (name: string, form: RegExp): BrowserCookie => ({
    read: ({ headers: { cookie = '' } }) => {
      const pairs = cookie.split(';').map((pair) => pair.replace(BLANKS, ''));
      const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
      const [value] = values;
      return value !== undefined && values.length === 1 && form.test(value) ? value : undefined;
    },
    header: (value) => `${name}=${value}${attributes}${value === '' ? '; Max-Age=0' : ''}`,
  });
  return {
    browser: {
      ...create(`${prefix}-browser`, ID),
      create: () => random.bytes(ID_BYTES).toString('base64url'),
    },
    session: create(`${prefix}-session`, SEALED),
  };
}
