import type { KubernetesObject } from '../../kubernetes/object.ts';
import { asArray, asObject } from '../../runtime/text/json-value.ts';
import { type KindWords, PLAIN_WORDS } from './kind-words.ts';
import { textIn } from './own-value.ts';

/** Whom a binding names, and the role that it gives. */
export interface BindingOwn {
  /** `User:` or `Group:` and the name. A service account is nobody's member. */
  readonly subjects: readonly string[];
  /** The kind of the role, a slash and its name; `''` without a role. */
  readonly role: string;
}

export const USER_SUBJECT = 'User:';
export const GROUP_SUBJECT = 'Group:';
const PREFIXES: ReadonlyMap<unknown, string> = new Map([
  ['User', USER_SUBJECT],
  ['Group', GROUP_SUBJECT],
]);

/** RoleBindings, ClusterRoleBindings and WorkspaceRoleBindings. */
export const BINDING_WORDS: KindWords = { ...PLAIN_WORDS, project };

function project({ subjects, roleRef }: KubernetesObject): BindingOwn {
  const [kind, name] = [textIn(roleRef, 'kind'), textIn(roleRef, 'name')];
  return {
    subjects: asArray(subjects).flatMap((subject) => {
      const prefix = PREFIXES.get(asObject(subject)['kind']);
      const named = textIn(subject, 'name');
      return prefix === undefined || named === undefined ? [] : [prefix + named];
    }),
    role: kind === undefined || name === undefined ? '' : `${kind}/${name}`,
  };
}
