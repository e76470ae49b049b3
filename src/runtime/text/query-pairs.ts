/** A name and its value, decoded. A pair without `=` has an empty value. */
export type QueryPair = readonly [name: string, value: string];

/** No client sends so many. Queries are read before the caller is authenticated, so a longer one is not read to its end. */
const MOST_PAIRS = 64;
/** Go's `net/url` refuses a query with more parts, empty ones included (its setting `urlmaxqueryparams`). */
const MOST_PARTS = 10_000;

const TOO_MANY = { fault: `the query string has more than ${MOST_PAIRS} parameters` };

/**
 * Reads the text behind the `?` of a URL into its pairs, in order; empty pairs are skipped. Returns a fault, with fixed words, for
 * text that Go's `url.ParseQuery` and the URL standard (https://url.spec.whatwg.org/#urlencoded-parsing) read differently: Go drops
 * a pair with a semicolon or a broken escape, and keeps bytes that are not UTF-8. So the cluster, a proxy and a browser read every
 * accepted text alike.
 */
export function readQueryPairs(text: string): readonly QueryPair[] | { readonly fault: string } {
  if (text.includes(';')) return { fault: 'the query string has a semicolon that is not encoded' };
  const pairs: QueryPair[] = [];
  let start = 0;
  for (let parts = 0; start < text.length; parts++) {
    const mark = text.indexOf('&', start);
    const end = mark < 0 ? text.length : mark;
    if (parts === MOST_PARTS) return TOO_MANY;
    if (end > start) {
      if (pairs.length === MOST_PAIRS) return TOO_MANY;
      const pair = toPair(text.slice(start, end));
      if (!pair) return { fault: 'the query string is not valid percent-encoded UTF-8' };
      pairs.push(pair);
    }
    start = end + 1;
  }
  return pairs;
}

function toPair(part: string): QueryPair | undefined {
  const equals = part.indexOf('=');
  const name = decoded(equals < 0 ? part : part.slice(0, equals));
  const value = equals < 0 ? '' : decoded(part.slice(equals + 1));
  return name === undefined || value === undefined ? undefined : [name, value];
}

/** `undefined` for a broken escape, and for bytes that are not UTF-8. Most texts have nothing to decode. */
function decoded(text: string): string | undefined {
  if (!ENCODED.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

const ENCODED = /[%+]/;
