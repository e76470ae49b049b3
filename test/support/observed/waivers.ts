/** Recorded cases that do not hold yet, each with the reason; a key that ends in `*` stands for all ids that begin so. */
const WAIVERS: Readonly<Record<string, string>> = {};

const covers = (key: string, id: string): boolean =>
  key === id || (key.endsWith('*') && id.startsWith(key.slice(0, -1)));

/** Why a case is left out; `undefined` when it is not. */
export function waiverOf(id: string): string | undefined {
  const key = Object.keys(WAIVERS).find((one) => covers(one, id));
  return key === undefined ? undefined : WAIVERS[key];
}

/** Waivers that stand for none of these cases: they say something that is no longer true. */
export const idleWaivers = (ids: readonly string[]): string[] =>
  Object.keys(WAIVERS).filter((key) => !ids.some((id) => covers(key, id)));
