const MAX_PARAMETERS = 32;

/** A plain word, as all our parameter names are. What a caller may have put in the place of a name is seldom one. */
const PLAIN = /^[A-Za-z][A-Za-z0-9._-]{0,31}$/;

/** Parameters that are sent without a value. */
const FLAGS: ReadonlySet<string> = new Set(['verbose', 'watch']);

/**
 * The names in a query string, for the log, 32 at most: never a value, nor anything that might be one. A name must be a
 * plain word that has a value. A token sent without a name (`?eyJ…`, `?b2s=` with its padding, `?access_token%3DeyJ…`)
 * becomes `other`.
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
