/** A rule of a role, as in RBAC. */
export interface RoleRule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** What a rule allows, for people. */
export interface Allowed {
  /** `all`, `read`, `create`, `change`, `remove`, and verbs that have no simpler word. */
  readonly verbs: readonly string[];
  /** `users, users/password (iam.gatehouse.io)`; `*` for all. */
  readonly what: string;
  /** The names of the only objects, if the rule names some. */
  readonly names: readonly string[];
}

const WORDS: readonly (readonly [word: string, verbs: readonly string[]])[] = [
  ['read', ['get', 'list', 'watch']],
  ['create', ['create']],
  ['change', ['update', 'patch']],
  ['remove', ['delete', 'deletecollection']],
];

/** The rules of a role in the words of people: of `get`, `list` and `watch` any one is to read. */
export const allowedBy = (rules: readonly RoleRule[]): readonly Allowed[] =>
  rules.map(({ verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }) => {
    const groups = apiGroups.filter((group) => group !== '');
    const scope = groups.length === 0 ? '' : ` (${groups.join(', ')})`;
    return {
      verbs: wordsFor(verbs),
      what: [...resources, ...nonResourceURLs].join(', ') + scope,
      names: resourceNames,
    };
  });

function wordsFor(verbs: readonly string[]): readonly string[] {
  if (verbs.includes('*')) return ['all'];
  const simple = WORDS.filter(([, these]) => these.some((verb) => verbs.includes(verb))).map(([word]) => word);
  const known = new Set(WORDS.flatMap(([, these]) => these));
  return [...simple, ...verbs.filter((verb) => !known.has(verb))];
}
