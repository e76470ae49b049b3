import { OAuthError } from '../oauth-error.ts';
import { invalidRequest, toOAuthError } from './refusals.ts';

/** The parameters of a form by name; no name occurs twice. */
export type Form = ReadonlyMap<string, string>;

export const MOST_PARAMETERS = 64;

/**
 * The media type, with any parameters. The type defines none, and they do not change how a form is decoded, but some clients send
 * them (Apache HttpClient: `charset=ISO-8859-1`). The bytes must be UTF-8 (RFC 6749 appendix B), which is checked when they are
 * decoded.
 */
const FORM_TYPE = /^application\/x-www-form-urlencoded[ \t]*(;|$)/i;

/** Checks the content type and the query string of a form. Throws an `OAuthError`. */
export type FormHeadCheck = (contentType: string | undefined, queryString: string) => void;

/** Creates the check of an endpoint, which counts its refusals by error code. */
export function createFormHeadCheck(count: (code: string) => void): FormHeadCheck {
  return (contentType, queryString) => {
    try {
      checkFormHead(contentType, queryString);
    } catch (error) {
      count(toOAuthError(error).refusal.code);
      throw error;
    }
  };
}

/** The checks before a body is read (N-02, N-03). */
export function checkFormHead(contentType: string | undefined, queryString: string): void {
  checkFormType(contentType);
  if (queryString !== '') throw invalidRequest('parameters belong in the body, not in the address');
}

export function checkFormType(contentType: string | undefined): void {
  if (!FORM_TYPE.test(contentType ?? ''))
    throw invalidRequest('the body must be application/x-www-form-urlencoded in UTF-8');
}

/**
 * Decodes a form. Checks the number of parameters, the encoding, and repeated names, in this order (N-04 to N-07). The size was
 * checked when the body was read.
 */
export const parseForm = (body: Buffer): Form => parseParameters(body.toString('latin1'));

/** Decodes `name=value&…` of a query or a form, where each character is one byte. Empty pairs are skipped. */
export function parseParameters(text: string): Form {
  const pairs = text.split('&').filter((pair) => pair !== '');
  if (pairs.length > MOST_PARAMETERS) throw invalidRequest('there are more than 64 parameters');
  const form = new Map<string, string>();
  for (const [name, value] of pairs.map(decodePair)) {
    if (form.has(name)) throw invalidRequest('a parameter is given more than once');
    form.set(name, value);
  }
  return form;
}

/** The parameters of an address that a browser opens; `undefined` if it is damaged. */
export function parseQuery(query: string): Form | undefined {
  try {
    return parseParameters(query);
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}

/** The value of a parameter; an empty one counts as omitted (RFC 6749 3.2). */
export const parameter = (form: Form, name: string): string | undefined => form.get(name) || undefined;

function decodePair(pair: string): [string, string] {
  const equals = pair.indexOf('=');
  const [name, value] = equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
  const decoded = [decodeFormText(name), decodeFormText(value)] as const;
  if (decoded[0] === undefined || decoded[1] === undefined)
    throw invalidRequest('a parameter is not form-encoded UTF-8');
  return [decoded[0], decoded[1]];
}

/** `ignoreBOM` keeps a leading U+FEFF, because every byte of a password counts. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes form-encoded text; `undefined` if an escape is malformed or the bytes are not UTF-8 (N-06). */
export function decodeFormText(text: string): string | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return undefined;
  const unescaped = text
    .replaceAll('+', ' ')
    .replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  try {
    return utf8.decode(Buffer.from(unescaped, 'latin1'));
  } catch {
    return undefined;
  }
}
