import type { Authorizer, Subject } from '../../authorization/authorizer.ts';
import { createPermittedNamespaces } from '../../authorization/permitted-namespaces.ts';
import type { PermittedScopes } from '../../authorization/permitted-scope.ts';
import type { SearchedKind } from '../../kinds/search/object-search.ts';
import type { MatchedKind, VisibleKind } from '../../kinds/search/scan.ts';
import type { Within } from '../../resources/query/within.ts';
import { mapAtOnce } from '../../runtime/limits/map-at-once.ts';
import { toWithin } from '../routes/visible-part.ts';

interface VisibleKindsParts {
  readonly authorizer: Authorizer;
  readonly scopes: PermittedScopes;
}

/** Leaves out the kinds of which the caller may see nothing, and says which part of each other kind the caller may see. */
export type VisibleKinds = (
  matched: readonly MatchedKind<SearchedKind>[],
  subject: Subject,
  signal: AbortSignal,
) => Promise<readonly VisibleKind<SearchedKind>[]>;

/** How many kinds are asked about at a time. One caller may have so many reviews open when the cluster is slow. */
const AT_ONCE = 8;

/** Decides as the lists of these kinds do (KD-10, KD-12), except that a caller without a right gets no refusal. */
export function createVisibleKinds({ authorizer, scopes }: VisibleKindsParts): VisibleKinds {
  const permittedNamespaces = createPermittedNamespaces(scopes);

  async function partOf(
    { type, namespaced, right }: SearchedKind,
    subject: Subject,
    signal: AbortSignal,
  ): Promise<Part> {
    const { allowed } = await authorizer.authorize(subject, { resource: right });
    if (allowed) return EVERYTHING;
    if (namespaced) return { within: toWithin(await scopes.scopeOf(subject, right, signal)) };
    const isNamespaces = type.kind === 'Namespace' && type.apiVersion === 'v1';
    return isNamespaces ? { within: toWithin(await permittedNamespaces(subject, signal)) } : NOTHING;
  }

  return async (matched, subject, signal) => {
    const parts = await mapAtOnce(matched, ({ kind }) => partOf(kind, subject, signal), { most: AT_ONCE, signal });
    return matched
      .map((one, at) => ({ ...one, within: parts[at]?.within }))
      .filter(({ within }) => within === undefined || within.names.size > 0);
  };
}

interface Part {
  readonly within: Within | undefined;
}

const EVERYTHING: Part = { within: undefined };
const NOTHING: Part = { within: { names: new Set() } };
