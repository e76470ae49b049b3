import type { Polled } from '../live/polled.ts';
import { resourcesRoot } from './settings.ts';
import { usePolled } from './use-live.ts';

/** A kind that can be listed, as the API's discovery describes it. */
export interface KindResource {
  /** The plural, or `plural.group` where the plural alone means another kind. */
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly shortNames?: readonly string[];
}

interface Discovery {
  readonly resources: readonly KindResource[];
}

/** New kinds are listed after this time. */
const EVERY_MS = 60_000;

/** The kinds that can be listed now. */
export const useKinds = (): Polled<Discovery> => usePolled<Discovery>(resourcesRoot(), EVERY_MS);

/** `plural.group` of a kind, by which everybody finds its definition. */
export const fullName = ({ name, group = '' }: KindResource): string =>
  group === '' || name.endsWith(`.${group}`) ? name : `${name}.${group}`;

/** The kind in the plural as people write it: `NetworkPolicies`, `Endpoints`. It is made of the kind and the plural in paths. */
function pluralOf({ name, kind }: KindResource): string {
  const plural = name.split('.')[0] ?? name;
  const word = kind.toLowerCase();
  const common = plural.startsWith(word) ? word.length : word.length - 1;
  return plural.startsWith(word.slice(0, common)) ? kind.slice(0, common) + plural.slice(common) : kind;
}

/** The title of the list of a kind: its plural, or its name in paths until the kind is known. */
export const titleOf = (kind: KindResource | undefined, name: string): string => (kind ? pluralOf(kind) : name);

/** `titleOf` where no more is needed of the kind. */
export function useKindTitle(name: string): string {
  return titleOf(
    useKinds().value.value?.resources.find((one) => one.name === name),
    name,
  );
}
