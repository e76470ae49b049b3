const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Strings whole, else single characters: enough to tell names from values in text that is known to be JSON. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g;

/** What we read has four levels at most; RFC 8259 9 lets a reader set a limit. */
const DEEPEST = 32;

/**
 * A JSON object in UTF-8 without two members of one name at any depth (RFC 8259 4 leaves their meaning open: N-42). A
 * member `__proto__` is one like any other: what is read is never merged into anything.
 */
export function parseStrictObject(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = utf8.decode(bytes);
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && !isUnfit(text) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Nests too deep, or repeats a name. */
function isUnfit(text: string): boolean {
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
    if (open.length > DEEPEST) return true;
    last = token;
  }
  return false;
}
