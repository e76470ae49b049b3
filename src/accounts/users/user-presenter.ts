import type { KubernetesObject } from '../../kubernetes/object.ts';
import { toEntry } from '../../resources/entries/entry.ts';
import { typeMembers } from '../../resources/entries/object-kind.ts';
import type { AccountNames } from '../names.ts';
import { withRole } from './user-entry.ts';
import { createUserKind } from './user-kind.ts';

/** Encodes the answer about one User object that does not come from memory, such as the answer to a write. */
export interface UserPresenter {
  /**
   * The JSON text of the object exactly as a get answers it: without a password, with kind and version in front. `role`
   * is the platform role to show; `undefined` shows none. Throws for an object without name, uid or version.
   */
  present(object: KubernetesObject, role: string | undefined): Uint8Array;
}

export function createUserPresenter(names: AccountNames): UserPresenter {
  const kind = createUserKind(names);
  const members = typeMembers(kind);
  return {
    present(object, role) {
      const { encoded } = withRole(toEntry(object, kind), names.globalRole, role);
      return Buffer.concat([members, encoded.bytes().subarray(1)]);
    },
  };
}
