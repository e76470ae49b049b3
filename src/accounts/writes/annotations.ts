import type { AccountNames } from '../names.ts';
import { LAST_APPLIED } from '../shown-object.ts';

type Annotations = Readonly<Record<string, string>>;

export interface AnnotationRights {
  /** Whether the cluster allows the caller to update this user. */
  readonly isManager: boolean;
  /** Whether the caller updates their own user. */
  readonly isSelf: boolean;
  readonly names: AccountNames;
}

/**
 * The annotations of a user after an update. The body replaces those that the caller may change. A manager may change all except
 * those that only Gatehouse writes; other callers may not change any of the platform's either (`iam.<platform>.io/…`). An
 * annotation that the caller may not change keeps its value if the body lacks it. If the body has another value, `refused` names
 * the annotation. The role is never stored.
 */
export function annotationsAfter(
  written: Annotations | undefined,
  stored: Annotations,
  { isManager, isSelf, names }: AnnotationRights,
): { readonly annotations: Annotations } | { readonly refused: string } {
  const asked = storable(written ?? {}, names);
  const kept = storable(stored, names);
  const own: ReadonlySet<string> = new Set([
    ...keptByUs(names),
    // A user who must set a first password need not prove an old one. If users could put this mark on themselves, a stolen token
    // could take over the account.
    ...(isSelf ? [names.uninitialized] : []),
  ]);
  const isForeign = (key: string): boolean => own.has(key) || (!isManager && key.startsWith(names.prefix));
  const refused = Object.keys(asked).find((key) => isForeign(key) && asked[key] !== kept[key]);
  if (refused !== undefined) return { refused };
  const foreign = Object.entries(kept).filter(([key]) => isForeign(key));
  const mine = Object.entries(asked).filter(([key]) => !isForeign(key));
  return { annotations: Object.fromEntries([...mine, ...foreign]) };
}

/** The annotations that only Gatehouse writes; no request can set them. */
const keptByUs = ({
  lastPasswordChange,
  incomplete,
  tokensNotBefore,
  sparedSession,
  passwordMoved,
  lastRoleChange,
}: AccountNames): string[] => [
  ...[lastPasswordChange, incomplete, tokensNotBefore, sparedSession, passwordMoved, lastRoleChange],
];

/**
 * The annotations that a new user begins with. Those that only Gatehouse writes are dropped and not refused, because a client may
 * send a copy of another user (AC-22).
 */
export function annotationsOfNew(written: Annotations, names: AccountNames): Annotations {
  const own = new Set(keptByUs(names));
  return Object.fromEntries(Object.entries(storable(written, names)).filter(([key]) => !own.has(key)));
}

/** The annotations without those that are never stored: the role, which is computed, and kubectl's copy of the object. */
function storable(annotations: Annotations, names: AccountNames): Annotations {
  const { [names.globalRole]: _, [LAST_APPLIED]: __, ...kept } = annotations;
  return kept;
}
