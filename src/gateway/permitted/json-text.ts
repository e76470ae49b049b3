import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isBlank,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './json-bytes.ts';

function afterBlanks(json: Buffer, at: number): number {
  let index = at;
  while (isBlank(json[index])) index++;
  return index;
}

/** The index after the closing quote of the string that begins at `at`. */
function afterString(json: Buffer, at: number): number {
  let index = at + 1;
  for (; index < json.length && json[index] !== QUOTE; index++) if (json[index] === BACKSLASH) index++;
  return index + 1;
}

/** The index after the value that begins at `at`. In text that is not JSON it is any index after `at`. */
function afterValue(json: Buffer, at: number): number {
  const first = json[at];
  if (first === QUOTE) return afterString(json, at);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return afterScalar(json, at);
  let depth = 0;
  for (let index = at; index < json.length; ) {
    const byte = json[index];
    if (byte === QUOTE) {
      index = afterString(json, index);
      continue;
    }
    index++;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return index;
  }
  return json.length;
}

function afterScalar(json: Buffer, at: number): number {
  let index = at;
  while (index < json.length && !ENDS_SCALAR.has(json[index] as number)) index++;
  return Math.max(index, at + 1);
}

const ENDS_SCALAR: ReadonlySet<number> = new Set([COMMA, CLOSE_BRACE, CLOSE_BRACKET, 0x20, 0x0a, 0x0d, 0x09]);

/** Visits the members of the object that begins at `at`, in order, until `visit` returns true. Nothing if there is no object. */
function eachMember(json: Buffer, at: number, visit: (name: string, valueAt: number) => boolean): void {
  if (json[at] !== OPEN_BRACE) return;
  for (let index = afterBlanks(json, at + 1); json[index] === QUOTE; ) {
    const nameEnd = afterString(json, index);
    const name = json.toString('latin1', index + 1, nameEnd - 1);
    index = afterBlanks(json, nameEnd);
    if (json[index] !== COLON) return;
    const valueAt = afterBlanks(json, index + 1);
    if (visit(name, valueAt)) return;
    index = afterBlanks(json, afterValue(json, valueAt));
    if (json[index] !== COMMA) return;
    index = afterBlanks(json, index + 1);
  }
}

/**
 * Where the value of the named member of the object at `at` begins; -1 if there is no such member. Reads the text only up to there: the
 * metadata of an object come first, so most of an object is never read.
 */
export function memberAt(json: Buffer, at: number, name: string): number {
  let found = -1;
  if (at >= 0)
    eachMember(json, at, (one, valueAt) => {
      if (one === name) found = valueAt;
      return found >= 0;
    });
  return found;
}

/** Where each element of the array at `at` begins. */
export function elementsAt(json: Buffer, at: number): number[] {
  const found: number[] = [];
  if (at < 0 || json[at] !== OPEN_BRACKET) return found;
  for (let index = afterBlanks(json, at + 1); index < json.length && json[index] !== CLOSE_BRACKET; ) {
    found.push(index);
    index = afterBlanks(json, afterValue(json, index));
    if (json[index] !== COMMA) break;
    index = afterBlanks(json, index + 1);
  }
  return found;
}

/** The text of the value that begins at `at`. */
export const valueText = (json: Buffer, at: number): Buffer => json.subarray(at, afterValue(json, at));

/** The string that begins at `at`; `undefined` if there is none, or one with an escape: names and versions in Kubernetes have none. */
export function plainString(json: Buffer, at: number): string | undefined {
  if (at < 0 || json[at] !== QUOTE) return undefined;
  const text = json.toString('latin1', at + 1, afterString(json, at) - 1);
  return text.includes('\\') ? undefined : text;
}
