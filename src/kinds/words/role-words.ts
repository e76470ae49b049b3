import type { Condition, FilterReader } from '../../resources/query/filter.ts';
import { type KindWords, PLAIN_WORDS, type WordsContext } from './kind-words.ts';

/** Roles and ClusterRoles. */
export function roleWords({ platform, annotationsOf }: Pick<WordsContext, 'platform' | 'annotationsOf'>): KindWords {
  const key = `iam.${platform}.io/aggregation-roles`;
  const namesIn = (namespace: string, role: string): ReadonlySet<string> =>
    aggregatedNames(annotationsOf(namespace, role)?.[key]);
  return {
    ...PLAIN_WORDS,
    filters: new Map<string, FilterReader>([['aggregateTo', (text) => isAggregatedTo(text, namesIn)]]),
  };
}

type NamesIn = (namespace: string, role: string) => ReadonlySet<string>;

/**
 * Whether the role of this name, in the same namespace, names the object in its annotation. A watch keeps the names as they were when it
 * first looked at a role of the namespace; when the annotation changes, only a new watch knows.
 */
function isAggregatedTo(role: string, namesIn: NamesIn): Condition {
  const condition: Condition = ({ namespace, name }) => namesIn(namespace, role).has(name);
  condition.asOfNow = () => {
    const known = new Map<string, ReadonlySet<string>>();
    return ({ namespace, name }) => {
      const names = known.get(namespace) ?? namesIn(namespace, role);
      known.set(namespace, names);
      return names.has(name);
    };
  };
  return condition;
}

/** The names in the annotation `iam.<platform>.io/aggregation-roles`, which is a JSON array. Any other text names none. */
export function aggregatedNames(annotation: string | undefined): ReadonlySet<string> {
  try {
    const names: unknown = JSON.parse(annotation ?? '[]');
    return new Set(Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []);
  } catch {
    return new Set();
  }
}
