/** A name and its value, decoded. A pair without `=` has an empty value. */
export type QueryPair = readonly [name: string, value: string];

/** Go's `net/url` reads nothing at all of a query with more pairs (its setting `urlmaxqueryparams`). */
const MOST_PAIRS = 10_000;

/**
 * Reads the text behind the `?` of a URL into its pairs, in order; empty pairs are skipped. Answers with a fixed phrase instead
 * where Go's `url.ParseQuery` and the URL standard (https://url.spec.whatwg.org/#urlencoded-parsing) read the text differently:
 * Go drops a pair with a semicolon or a broken escape, and keeps bytes that are not UTF-8. So whatever this function reads,
 * the cluster, a proxy and a browser read alike.
 */
export function readQueryPairs(text: string): readonly QueryPair[] | { readonly fault: string } {
  if (text === '') return [];
  if (text.includes(';')) return { fault: 'the query string has a semicolon that is not encoded' };
  const parts = text.split('&');
  if (parts.length > MOST_PAIRS) return { fault: `the query string has more than ${MOST_PAIRS} parameters` };
  const pairs: QueryPair[] = [];
  for (const part of parts) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decoded(equals < 0 ? part : part.slice(0, equals));
    const value = equals < 0 ? '' : decoded(part.slice(equals + 1));
    if (name === undefined || value === undefined)
      return { fault: 'the query string is not valid percent-encoded UTF-8' };
    pairs.push([name, value]);
  }
  return pairs;
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
