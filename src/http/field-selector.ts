/**
 * The value that a field selector requires of a field. `{}` if it requires none, `undefined` if the text is not a field selector. The
 * grammar is that of Kubernetes (`k8s.io/apimachinery/pkg/fields`): terms `field=value`, `field==value` and `field!=value`, separated by
 * commas, with `\`, `,` and `=` in a value escaped by a backslash. If there are several values, Kubernetes uses that of the first term in
 * byte order.
 */
export function demandedValue(selector: string, field: string): { readonly value?: string } | undefined {
  let first: { readonly bytes: Buffer; readonly value: string } | undefined;
  for (const term of toTerms(selector)) {
    if (term === '') continue;
    const [, name, operator, escaped = ''] = TERM.exec(term) ?? [];
    const value = unescaped(escaped);
    if (operator === undefined || value === undefined) return undefined;
    if (name !== field || operator === '!=') continue;
    const bytes = Buffer.from(term);
    if (!first || Buffer.compare(bytes, first.bytes) < 0) first = { bytes, value };
  }
  return first ? { value: first.value } : {};
}

/** Splits a term at its first operator; the name of a field has no escapes. */
const TERM = /^(.*?)(!=|==|=)(.*)$/s;

/** The texts between commas that are not escaped. */
function toTerms(selector: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < selector.length; at++) {
    if (selector[at] === '\\') at += 1;
    else if (selector[at] === ',') {
      terms.push(selector.slice(start, at));
      start = at + 1;
    }
  }
  return [...terms, selector.slice(start)];
}

/** The value without escapes; `undefined` if a `,` or `=` is not escaped, or another character is. */
function unescaped(value: string): string | undefined {
  return VALUE.test(value) ? value.replaceAll(/\\(.)/gs, '$1') : undefined;
}

const VALUE = /^(?:[^\\,=]|\\[\\,=])*$/s;
