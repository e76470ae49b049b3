import type { AccountNames } from '../names.ts';
import { LAST_APPLIED } from '../shown-object.ts';

type Annotations = Readonly<Record<string, string>>;

export interface AnnotationRights {
  /** Whether the cluster allows the caller to update this user. */
  readonly isManager: boolean;
  /** Whether it is the caller's own user. */
  readonly isSelf: boolean;
  readonly names: AccountNames;
}

/**
 * The annotations of a user after an update. The body replaces what this caller may change: a manager all but what
 * Gatehouse keeps, others all but those of the platform (`iam.<platform>.io/…`). A foreign one is kept when it is absent,
 * and `refused` names it when it differs. The role is no annotation that is stored.
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
    // A user who must set a first password proves no old one. So nobody may set this on themselves: a stolen token could take the account.
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
const keptByUs = ({ lastPasswordChange, incomplete, tokensNotBefore, lastRoleChange }: AccountNames): string[] => [
  lastPasswordChange,
  incomplete,
  tokensNotBefore,
  lastRoleChange,
];

/**
 * The annotations that a new user begins with. What only Gatehouse writes is dropped and not refused: a client may make a
 * user from what it was told of another one (AC-22).
 */
export function annotationsOfNew(written: Annotations, names: AccountNames): Annotations {
  const own = new Set(keptByUs(names));
  return Object.fromEntries(Object.entries(storable(written, names)).filter(([key]) => !own.has(key)));
}

/** Without what is never stored: the role, which is computed, and what kubectl writes. */
function storable(annotations: Annotations, names: AccountNames): Annotations {
  const { [names.globalRole]: _, [LAST_APPLIED]: __, ...kept } = annotations;
  return kept;
}
