const MAX_PARAMETERS = 32;

/** A plain word, as every parameter of ours is; what a caller may have put in its place is none, as a rule. */
const PLAIN = /^[A-Za-z][A-Za-z0-9._-]{0,31}$/;

/** Parameters that are sent without a value. */
const FLAGS: ReadonlySet<string> = new Set(['verbose', 'watch']);

/**
 * The names in a query string, for the log, 32 at most: never a value, nor what might be one. A name is a plain word that has
 * a value; a token sent without a name (`?eyJ…`, `?b2s=` with its padding, `?access_token%3DeyJ…`) is `other`.
 */
export function parameterNames(query: string): string[] {
  return query
    .split('&', MAX_PARAMETERS)
    .filter((pair) => pair !== '')
    .map(nameIn);
}

function nameIn(pair: string): string {
  const sign = pair.indexOf('=');
  const name = sign < 0 ? pair : pair.slice(0, sign);
  if (FLAGS.has(name)) return name;
  const hasValue = sign >= 0 && /[^=]/.test(pair.slice(sign));
  return hasValue && PLAIN.test(name) ? name : 'other';
}
