/**
 * The value that a field selector demands of a field, by the grammar of Kubernetes (`k8s.io/apimachinery/pkg/fields`): terms
 * `field=value`, `field==value` and `field!=value`, with commas between them; a backslash before `\`, `,` or `=` in a value.
 * `{}` when it demands none, `undefined` for what is no field selector. Of several values Kubernetes takes the first one in
 * the order of bytes of the terms.
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

/** The first operator splits a term: the name of a field has no escapes. */
const TERM = /^(.*?)(!=|==|=)(.*)$/s;

/** The texts between the commas that no backslash stands before. */
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

/** `undefined` when a sign stands without its backslash, or a backslash before anything else. */
function unescaped(value: string): string | undefined {
  return VALUE.test(value) ? value.replaceAll(/\\(.)/gs, '$1') : undefined;
}

const VALUE = /^(?:[^\\,=]|\\[\\,=])*$/s;
