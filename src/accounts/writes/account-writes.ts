import type { SecurityEventFields, SecurityEventName } from '../../security-events.ts';
import { StatusError } from '../../status-error.ts';
import type { Caller } from './caller.ts';
import { createPasswordChange, type PasswordChangeParts, type PasswordChangeRequest } from './change-password.ts';
import { createUserCreation } from './create-user.ts';
import { createUserDeletion } from './delete-user.ts';
import { createFirstPassword } from './first-password.ts';
import { createUserUpdate, type UpdateRequest } from './update-user.ts';
import type { AnsweredUser } from './user-writes.ts';

/**
 * The writes of the account API. The route has already been authorized. Each rejects with the `StatusError` to answer with, and
 * writes one line to the audit trail.
 */
export interface AccountWrites {
  create(body: Buffer, caller: Caller): Promise<AnsweredUser>;
  update(request: UpdateRequest, caller: Caller): Promise<AnsweredUser>;
  remove(name: string, caller: Caller): Promise<void>;
  changePassword(request: PasswordChangeRequest, caller: Caller): Promise<void>;
  /** The JSON patch of 3.4's clients. */
  setFirstPassword(request: PasswordChangeRequest, caller: Caller): Promise<AnsweredUser>;
}

export function createAccountWrites(parts: PasswordChangeParts): AccountWrites {
  const create = createUserCreation(parts);
  const update = createUserUpdate(parts);
  const remove = createUserDeletion(parts);
  const changePassword = createPasswordChange(parts);
  const setFirstPassword = createFirstPassword(parts);
  const audited = createAudit(parts);
  const nameOf = ({ object }: AnsweredUser): SecurityEventFields => ({ target: object.metadata.name });
  return {
    create: (body, caller) =>
      audited('user_creation', caller, () => create(body, caller), {
        says: (made) => ({ ...nameOf(made), role: made.role }),
      }),
    update: (request, caller) =>
      audited('user_update', caller, () => update(request, caller), { target: request.name }),
    remove: (name, caller) => audited('user_deletion', caller, () => remove(name), { target: name }),
    changePassword: (request, caller) =>
      audited('password_change', caller, () => changePassword(request, caller), { target: request.name }),
    setFirstPassword: (request, caller) =>
      audited('password_change', caller, () => setFirstPassword(request, caller), { target: request.name }),
  };
}

interface AuditedAct<T> {
  /** The name in the path. It is logged only when such a user exists: the audit trail never repeats what a caller typed. */
  readonly target?: string;
  says?(outcome: T): SecurityEventFields;
}

function createAudit({ events, known }: Pick<PasswordChangeParts, 'events' | 'known'>) {
  return async <T>(
    event: SecurityEventName,
    caller: Caller,
    act: () => Promise<T>,
    { target, says }: AuditedAct<T>,
  ): Promise<T> => {
    const named = target !== undefined && known.byName(target) ? { target } : {};
    const trail = { ...caller.trail, user: caller.name, source: caller.source, ...named };
    try {
      const outcome = await act();
      events.report(event, { ...trail, ...says?.(outcome), result: 'ok' }, caller.request);
      return outcome;
    } catch (error) {
      events.report(event, { ...trail, result: resultOf(error) }, caller.request);
      throw error;
    }
  };
}

const resultOf = (error: unknown): string => {
  if (!(error instanceof StatusError)) return 'failed';
  const { code } = error.answer;
  if (code === 429) return 'throttled';
  return code < 500 ? 'refused' : 'failed';
};
