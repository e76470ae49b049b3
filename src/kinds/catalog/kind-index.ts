import type { ClusterKind } from '../../kubernetes/discovery/cluster-kind.ts';
import type { DiscoveredKinds } from '../../kubernetes/discovery/discovery-reader.ts';
import { type KindAnswer, type KindRules, type NamedKind, qualifiedName } from './kind-answer.ts';

interface IndexRules {
  readonly rules: KindRules;
  /** The group that a bare plural means before all others. */
  readonly groupOf: ReadonlyMap<string, string>;
}

const UNKNOWN: KindAnswer = { unknown: true };

/** The kinds of one discovery, by their names. It never changes. */
export class KindIndex {
  /** The kinds that can be listed, ordered by group and plural. */
  readonly listed: readonly NamedKind[];
  /** The kinds that the cluster can list and watch, but the configuration does not serve, in the same order. */
  readonly denied: readonly ClusterKind[];
  readonly #rules: IndexRules;
  readonly #awayGroups: ReadonlySet<string>;
  readonly #byPlural = new Map<string, ClusterKind[]>();

  constructor({ kinds, awayGroups }: DiscoveredKinds, rules: IndexRules) {
    this.#rules = rules;
    this.#awayGroups = awayGroups;
    const ordered = [...kinds].sort(byGroupThenPlural);
    for (const kind of ordered) {
      const namesakes = this.#byPlural.get(kind.resource);
      if (namesakes) namesakes.push(kind);
      else this.#byPlural.set(kind.resource, [kind]);
    }
    const isListed = (kind: ClusterKind): boolean => 'kind' in judge(kind, rules.rules);
    this.denied = ordered.filter((kind) => missingVerbs(kind).length === 0 && !isListed(kind));
    this.listed = ordered
      .filter(isListed)
      .map((kind) => ({ ...kind, name: this.#isMeantByPlural(kind) ? kind.resource : qualifiedName(kind) }));
  }

  /** What the name means: a bare plural or `plural.group` (KD-02 to KD-06). */
  answer(name: string): KindAnswer {
    const { resource, group } = splitName(name);
    const meant = group === undefined ? this.#meantByPlural(resource) : this.find(group, resource);
    if (Array.isArray(meant)) return { ambiguous: meant };
    return meant ? judge(meant, this.#rules.rules) : UNKNOWN;
  }

  find(group: string, resource: string): ClusterKind | undefined {
    return this.#byPlural.get(resource)?.find((kind) => kind.group === group);
  }

  /** The group of `plural.group`, if it does not answer now. A bare plural names no group. */
  awayGroupIn(name: string): string | undefined {
    const { group } = splitName(name);
    return group !== undefined && this.#awayGroups.has(group) ? group : undefined;
  }

  /** KD-02: 3.4's kind, the core group, the only group that has it; else all of them. */
  #meantByPlural(resource: string): ClusterKind | ClusterKind[] | undefined {
    const namesakes = this.#byPlural.get(resource) ?? [];
    const first = this.#rules.groupOf.get(resource);
    const preferred = first === undefined ? undefined : this.find(first, resource);
    return preferred ?? this.find('', resource) ?? (namesakes.length > 1 ? namesakes : namesakes[0]);
  }

  #isMeantByPlural = (kind: ClusterKind): boolean => this.#meantByPlural(kind.resource) === kind;
}

/** No plural has a dot. */
function splitName(name: string): { readonly resource: string; readonly group: string | undefined } {
  const dot = name.indexOf('.');
  return dot < 0 ? { resource: name, group: undefined } : { resource: name.slice(0, dot), group: name.slice(dot + 1) };
}

function judge(kind: ClusterKind, rules: KindRules): KindAnswer {
  if (!rules.isAllowed(kind)) return { denied: true };
  const reason = whyNotListable(kind, rules);
  return reason === undefined ? { kind } : { notListable: reason };
}

const EVENT_GROUPS: readonly string[] = ['', 'events.k8s.io'];

/** KD-04 and KD-05. */
function whyNotListable(kind: ClusterKind, rules: KindRules): string | undefined {
  const { group, resource } = kind;
  if (group === '' && resource === 'secrets' && rules.secrets === 'none')
    return 'secrets are not served here (kinds.secrets is none)';
  if (resource === 'events' && EVENT_GROUPS.includes(group) && !rules.events)
    return 'events are not served here (kinds.events is false)';
  const missing = missingVerbs(kind);
  if (missing.length === 0) return undefined;
  return `${qualifiedName(kind)} are not served here, because the cluster's API for them has no ${missing.join(' and no ')}`;
}

const missingVerbs = ({ verbs }: ClusterKind): string[] => ['list', 'watch'].filter((verb) => !verbs.includes(verb));

const byGroupThenPlural = (a: ClusterKind, b: ClusterKind): number =>
  compareText(a.group, b.group) || compareText(a.resource, b.resource);

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
