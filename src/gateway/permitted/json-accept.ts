/**
 * The clauses of an `Accept` header that JSON fulfils, in their order and with their parameters: `as=Table` and the like. A clause for
 * any type becomes one for JSON. `undefined`: the client does not accept JSON. Other encodings cannot be filtered here.
 */
export function jsonAccept(accept: string | undefined): string | undefined {
  if (accept === undefined || accept.trim() === '') return 'application/json';
  const clauses = accept.split(',').flatMap((clause) => {
    const [type = '', ...parameters] = clause.split(';').map((part) => part.trim());
    if (!JSON_TYPES.has(type.toLowerCase())) return [];
    if (parameters.some((parameter) => /^q=0(\.0*)?$/i.test(parameter))) return [];
    // `stream=watch` chooses a framing that JSON has anyway.
    return [['application/json', ...parameters.filter((parameter) => !/^stream=/i.test(parameter))].join(';')];
  });
  return clauses.length === 0 ? undefined : [...new Set(clauses)].join(',');
}

const JSON_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/*', '*/*']);
