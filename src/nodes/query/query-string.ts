import { badRequest } from '../../status-error.ts';

const MOST_PARAMETERS = 64;

/** The parameters of a query string in their order, each with its first value. */
export interface QueryParameters {
  readonly values: ReadonlyMap<string, string>;
  /** Names that came more than once. */
  readonly repeated: ReadonlySet<string>;
}

/**
 * Splits on `&` only, skips empty pairs, reads `+` as a space and decodes percent-encoding once. Throws a 400 without causes
 * for an encoding that is not valid UTF-8 and for more than 64 parameters.
 */
export function parseQueryString(text: string): QueryParameters {
  const pairs = text.split('&').filter((pair) => pair !== '');
  if (pairs.length > MOST_PARAMETERS) throw badRequest(`the query string has more than ${MOST_PARAMETERS} parameters`);
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    if (values.has(name)) repeated.add(name);
    else values.set(name, value);
  }
  return { values, repeated };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw badRequest('the query string is not valid percent-encoded UTF-8');
  }
}
