import type { Within } from '../query/within.ts';

/**
 * Versions of a watch over what a caller may see end in `~` and the id of that part, so that a client never resumes with other rights than
 * those with which it got its objects: it begins again instead.
 */
const SCOPED = /^(.*)~([0-9a-f]{16}|changing)(-gzip)?$/;

/** The version as a client with this part of the list sees it. */
export const versionIn = (scope: string | undefined, version: string): string =>
  scope === undefined ? version : `${version}~${scope}`;

/** The version without the part of the list that it is about, and that part. */
export function splitScope(text: string): { readonly version: string; readonly scope: string | undefined } {
  const [, version, scope] = SCOPED.exec(text) ?? [];
  return version === undefined ? { version: text, scope: undefined } : { version, scope };
}

/** Stands for the part of the list while a client is told of a change of its rights. No client can resume from there. */
export const CHANGING = 'changing';

/** The names that only one of the two parts has. */
export const namesOnlyIn = ({ names }: Within, other: Within): ReadonlySet<string> =>
  new Set([...names].filter((name) => !other.names.has(name)));
