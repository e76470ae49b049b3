import type { Condition, FilterReader } from '../../resources/query/filter.ts';
import { asObject } from '../../runtime/text/json-value.ts';

/** A small value that an entry keeps of its object: texts, numbers, and lists of texts. */
type OwnValue = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** Whether two values with the same members are equal. */
export function isSameOwnValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const [one, other] = [a as OwnValue, b as OwnValue];
  return Object.keys(one).every((member) => isSame(one[member], other[member]));
}

function isSame(a: OwnValue[string], b: OwnValue[string]): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  return a.length === b.length && a.every((text, at) => text === b[at]);
}

/** A filter that compares a text with the one that `read` finds in what the kind keeps. An object without such a text never matches. */
export const equals =
  <Own>(read: (own: Own) => string | undefined): FilterReader =>
  (text): Condition =>
  (object) =>
    read(object.own as Own) === text;

/** A member that is text. */
export function textIn(object: unknown, member: string): string | undefined {
  const value = asObject(object)[member];
  return typeof value === 'string' ? value : undefined;
}
