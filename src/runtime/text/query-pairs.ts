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
  try {
    return parts.filter((part) => part !== '').map(toPair);
  } catch {
    return { fault: 'the query string is not valid percent-encoded UTF-8' };
  }
}

function toPair(part: string): QueryPair {
  const equals = part.indexOf('=');
  return equals < 0 ? [decode(part), ''] : [decode(part.slice(0, equals)), decode(part.slice(equals + 1))];
}

const decode = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));
