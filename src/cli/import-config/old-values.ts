import { isSettings, type Settings } from './old-config.ts';

/** A member by its name in any case. */
export function memberOf(settings: unknown, name: string): unknown {
  if (!isSettings(settings)) return undefined;
  return Object.entries(settings).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
}

/** Whether a value says something: 3.x takes an empty text for a setting that is not there, and its installer writes such ones. */
export const saysSomething = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/**
 * Reads a secret, or a name that belongs to one. A number gives `undefined`: `00123`, `0777` and `1e3` are read differently here and by
 * 3.x, and a long number would lose its last digits.
 */
export const exactText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** The settings of a map by their names in lower case. */
export const withLowerNames = (settings: Settings): Settings =>
  Object.fromEntries(Object.entries(settings).map(([key, value]) => [key.toLowerCase(), value]));

const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,99}$/;

/** A name for a comment. What is no word, such as a map in the place of a name, may have anything in it, also a secret. */
export const shownName = (name: string): string => (NAME.test(name) ? name : 'a setting whose name is no word');
