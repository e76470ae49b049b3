import { asObject } from '../runtime/text/json-value.ts';

/**
 * Appended to each resourceVersion before it is parsed, to keep it out of V8's table of unique strings. `JSON.parse` enters
 * every key there, and every text of fewer than ten characters. When the table grows, V8 hashes all of it again in one turn
 * of the event loop: 50 to 120 ms for a list of 450,000 pods, each with a resourceVersion of its own. Every garbage
 * collection goes through the table as well.
 */
const PAD = ' '.repeat(10);

/** The members to change before the text is parsed. A quote within a text is escaped, so each match is a key. */
const MEMBER = /"(?:managedFields":\[|resourceVersion":"[^"\\]{1,9}")/g;

const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Parses an object, a list or a watch event of the Kubernetes API as `JSON.parse` does, but with empty
 * `metadata.managedFields`: nobody here reads them, they are the longest part of most objects, and they have keys that no
 * other object has.
 *
 * @throws SyntaxError as `JSON.parse` does
 */
export function parseObjects(text: string): unknown {
  const { prepared, changes } = prepare(text);
  const value: unknown = JSON.parse(prepared);
  // Something else than the objects' metadata may have such a member, for example a label of that name. It must not
  // change, so the original text is parsed instead. That costs time, and puts the versions into V8's table.
  return restore(value) === changes ? value : JSON.parse(text);
}

/** Returns the text with longer versions and without managed fields, and how many members it changed. */
function prepare(text: string): { prepared: string; changes: number } {
  let prepared = '';
  let from = 0;
  let changes = 0;
  MEMBER.lastIndex = 0;
  for (let match = MEMBER.exec(text); match; match = MEMBER.exec(text)) {
    const end = MEMBER.lastIndex;
    const isArray = text.charCodeAt(end - 1) === OPENING_BRACKET;
    prepared += isArray ? text.slice(from, end) : text.slice(from, end - 1) + PAD;
    from = isArray ? endOfArray(text, end) : end - 1;
    MEMBER.lastIndex = from + 1;
    changes++;
  }
  return { prepared: changes === 0 ? text : prepared + text.slice(from), changes };
}

/** The offset of the bracket that closes the array in which `at` is, or the end of the text if there is none. */
function endOfArray(text: string, at: number): number {
  let depth = 1;
  let isText = false;
  for (let index = at; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) isText = !isText;
    else if (isText) index += code === BACKSLASH ? 1 : 0;
    else if (code === OPENING_BRACKET) depth++;
    else if (code === CLOSING_BRACKET && --depth === 0) return index;
  }
  return text.length;
}

/** Removes `PAD` from the versions of the objects in `value`. Returns how many of their members `prepare` had changed. */
function restore(value: unknown): number {
  const { object, items } = asObject(value);
  const listed = Array.isArray(items) ? items : [];
  return [value, object, ...listed].reduce((sum: number, one) => sum + restoreMetadata(one), 0);
}

function restoreMetadata(object: unknown): number {
  const metadata = asObject(asObject(object)['metadata']) as Record<string, unknown>;
  const { resourceVersion, managedFields } = metadata;
  let changed = Array.isArray(managedFields) ? 1 : 0;
  if (typeof resourceVersion === 'string' && resourceVersion.endsWith(PAD)) {
    metadata['resourceVersion'] = resourceVersion.slice(0, -PAD.length);
    changed++;
  }
  return changed;
}
