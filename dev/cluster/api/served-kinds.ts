import type { ResourceKind } from '../kinds.ts';
import { accountKinds, BUILT_IN, REVIEWS } from './built-in-kinds.ts';
import { byVersionPriority } from './version-priority.ts';

/** An API version of a group that is listed and not served: the server behind it is away. */
interface AwayVersion {
  readonly group: string;
  readonly version: string;
}

/** The kinds that come and go, from one source. */
export interface AddedKinds {
  readonly kinds: readonly ResourceKind[];
  readonly away: readonly AwayVersion[];
}

/** Where kinds come from that are not built in: CustomResourceDefinitions and aggregated APIs. */
export type KindSource = 'definitions' | 'aggregated';

/** One version of a group, as discovery lists it. */
export interface ServedVersion extends AwayVersion {
  readonly kinds: readonly ResourceKind[];
  /** The server behind it is away: requests are answered 503. */
  readonly isAway: boolean;
}

const pathOf = ({ group, version, plural }: ResourceKind): string => `${group}/${version}/${plural}`;

/** The kinds that a server serves now. */
export class ServedKinds {
  readonly reviews = REVIEWS;
  readonly #builtIn: readonly ResourceKind[];
  readonly #added = new Map<KindSource, AddedKinds>();
  #stored: readonly ResourceKind[];
  #byPath: ReadonlyMap<string, ResourceKind>;
  #groups: ReadonlyMap<string, readonly ServedVersion[]>;

  constructor(platform: string) {
    this.#builtIn = [...BUILT_IN, ...accountKinds(platform)];
    this.#stored = this.#builtIn;
    this.#byPath = this.#indexed();
    this.#groups = this.#grouped();
  }

  /** The kinds whose objects are stored, each in every version in which it is served. */
  get stored(): readonly ResourceKind[] {
    return this.#stored;
  }

  /** Finds a kind by group, version and plural: `/v1/pods`, `coordination.k8s.io/v1/leases`. */
  at(path: string): ResourceKind | undefined {
    return this.#byPath.get(path);
  }

  /** The groups in the order of discovery, the core group (``) first, each with its versions, the preferred one first. */
  get groups(): ReadonlyMap<string, readonly ServedVersion[]> {
    return this.#groups;
  }

  isAway(group: string, version: string): boolean {
    return this.#groups.get(group)?.some((served) => served.version === version && served.isAway) ?? false;
  }

  /** Replaces what comes from this source. A kind at a path that is already served is left out. */
  replace(source: KindSource, added: AddedKinds): void {
    this.#added.set(source, added);
    const known = new Map(this.#builtIn.map((kind) => [pathOf(kind), kind] as const));
    for (const { kinds } of this.#added.values())
      for (const kind of kinds) if (!known.has(pathOf(kind))) known.set(pathOf(kind), kind);
    this.#stored = [...known.values()];
    this.#byPath = this.#indexed();
    this.#groups = this.#grouped();
  }

  #indexed(): ReadonlyMap<string, ResourceKind> {
    return new Map([...this.#stored, ...REVIEWS].map((kind) => [pathOf(kind), kind] as const));
  }

  #grouped(): ReadonlyMap<string, readonly ServedVersion[]> {
    const away = [...this.#added.values()].flatMap((added) => added.away);
    const all = [
      ...[...this.#stored, ...REVIEWS].map((kind) => ({ group: kind.group, version: kind.version, kind })),
      ...away.map((version) => ({ ...version, kind: undefined })),
    ];
    const byGroup = [...Map.groupBy(all, ({ group }) => group)].sort(([a], [b]) => byGroupPriority(a, b));
    return new Map(byGroup.map(([group, members]) => [group, versionsOf(group, members)] as const));
  }
}

/** The groups of a real server by their priority there; all other groups come later, by name. */
const GROUP_ORDER: readonly string[] = [
  '',
  'apiregistration.k8s.io',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
];

function byGroupPriority(a: string, b: string): number {
  const rank = (group: string): number =>
    GROUP_ORDER.includes(group) ? GROUP_ORDER.indexOf(group) : GROUP_ORDER.length;
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}

function versionsOf(
  group: string,
  members: readonly { readonly version: string; readonly kind: ResourceKind | undefined }[],
): readonly ServedVersion[] {
  const byVersion = Map.groupBy(members, ({ version }) => version);
  return [...byVersion]
    .map(([version, some]) => ({
      group,
      version,
      kinds: some.flatMap(({ kind }) => kind ?? []),
      isAway: some.every(({ kind }) => kind === undefined),
    }))
    .sort((a, b) => byVersionPriority(a.version, b.version));
}
