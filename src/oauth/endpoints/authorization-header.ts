import { decodeFormText } from './form.ts';

/** One `Authorization` header, split by the rule of RFC 9110 11.4, with the scheme in lower case. */
export interface Credentials {
  readonly scheme: string;
  /** What follows the scheme, without the spaces around it; `''` when nothing does. */
  readonly text: string;
}

export function parseAuthorization(header: string | undefined): Credentials | undefined {
  const trimmed = header?.trim();
  if (!trimmed) return undefined;
  const space = trimmed.indexOf(' ');
  if (space < 0) return { scheme: trimmed.toLowerCase(), text: '' };
  return { scheme: trimmed.slice(0, space).toLowerCase(), text: trimmed.slice(space + 1).trim() };
}

/** What an `Authorization` header holds. `unfit`: one token that cannot be ours by its characters or length (N-33). */
export type Bearer =
  | { readonly kind: 'token'; readonly text: string }
  | { readonly kind: 'absent' | 'malformed' | 'unfit' };

/** RFC 6750 2.1, RFC 9110 11.4: the scheme in any case, at least one space, one token. */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/** The only place that reads a bearer, for every path. Another scheme counts as no bearer (N-27). */
export function readBearer(header: string | undefined, maxBytes: number): Bearer {
  const text = header === undefined ? undefined : BEARER.exec(header)?.[1];
  if (text !== undefined) return text.length > maxBytes ? { kind: 'unfit' } : { kind: 'token', text };
  if (header === undefined || !/^bearer(?: |$)/i.test(header)) return { kind: 'absent' };
  return { kind: /^bearer +[^ ]+$/i.test(header) ? 'unfit' : 'malformed' };
}

export interface BasicCredentials {
  readonly id: string;
  readonly secret: string;
}

/** RFC 6749 2.3.1: `base64(form-encoded id ":" form-encoded secret)`; `undefined` when it is not that. */
export function parseBasic(text: string): BasicCredentials | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const pair = Buffer.from(text, 'base64').toString('latin1');
  const colon = pair.indexOf(':');
  if (colon < 0) return undefined;
  const id = decodeFormText(pair.slice(0, colon));
  const secret = decodeFormText(pair.slice(colon + 1));
  return id === undefined || secret === undefined ? undefined : { id, secret };
}
