const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Matches whole strings, else single characters: enough to tell names from values in text that is known to be JSON. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g;

/**
 * Parses a JSON object in UTF-8 with at most `deepest` levels (RFC 8259 9). No object in it may have two members of one name,
 * because RFC 8259 4 leaves their meaning open (N-42). `__proto__` is a name like any other, because nothing is merged.
 */
export function parseStrictObject(
  bytes: Buffer,
  deepest = Number.POSITIVE_INFINITY,
): Readonly<Record<string, unknown>> | undefined {
  const value = parseStrictJson(bytes, deepest);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : undefined;
}

/** Parses any JSON value by the same rules. Returns `undefined` for text that breaks them. */
export function parseStrictJson(bytes: Buffer, deepest: number): unknown {
  try {
    const text = utf8.decode(bytes);
    const value: unknown = JSON.parse(text);
    return isUnfit(text, deepest) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Whether the text nests too deep or repeats a name. */
function isUnfit(text: string, deepest: number): boolean {
  const open: (Set<string> | undefined)[] = [];
  let last = '';
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':') {
      const names = open.at(-1);
      const name = JSON.parse(last) as string;
      if (names?.has(name)) return true;
      names?.add(name);
    }
    if (open.length > deepest) return true;
    last = token;
  }
  return false;
}
