/**
 * Orders two resourceVersions: negative when `a` is older. They are decimal text of any length, so the longer one is
 * newer, and text order decides between equal lengths. Never `Number`, which is exact to 2^53 only. `''` (no version
 * yet) is older than all.
 */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
