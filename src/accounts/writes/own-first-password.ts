import { StatusError } from '../../status-error.ts';
import type { FirstPasswordRequest, FirstPasswordResult, FirstPasswords } from '../../users/first-passwords.ts';
import { brokenRules } from '../passwords/password-rules.ts';
import type { Caller } from './caller.ts';
import { setPassword } from './change-password.ts';
import { currentUser, type UserWriteParts } from './user-writes.ts';

/**
 * Sets the first password of a person who signs in on the page (B-26). The rules and the steps are those of the account API; only
 * the proof differs, which is the password that was right a moment ago.
 */
export function createFirstPasswords(parts: UserWriteParts): FirstPasswords {
  const { names, events } = parts;
  const set = async ({ user, password, ...http }: FirstPasswordRequest): Promise<FirstPasswordResult> => {
    const broken = brokenRules(password);
    if (broken.length > 0) return { kind: 'refused', broken };
    const stored = await currentUser(user.name, parts);
    if (stored.metadata.uid !== user.uid || !stored.metadata.annotations?.[names.uninitialized])
      return { kind: 'outdated' };
    const caller: Caller = { ...http, name: user.name, uid: user.uid, groups: user.groups };
    await setPassword(stored, password, caller, { parts, isFirst: true, instead: user.passwordHash });
    return { kind: 'set' };
  };
  return {
    set: async (asked) => {
      const { user, source, trail } = asked;
      const report = (result: string): void =>
        events.report(
          'password_change',
          { ...trail, user: user.name, source, target: user.name, result },
          asked.request,
        );
      try {
        const result = await set(asked);
        if (result.kind === 'set') report('ok');
        if (result.kind === 'refused') report('refused');
        return result;
      } catch (error) {
        const expected = expectedResult(error);
        report(expected?.kind === 'busy' ? 'throttled' : 'failed');
        if (expected) return expected;
        throw error;
      }
    },
  };
}

/** What a refusal of the account API means on the page; `undefined` for a failure. */
function expectedResult(error: unknown): FirstPasswordResult | undefined {
  if (!(error instanceof StatusError)) return undefined;
  const { code } = error.answer;
  if (code === 429) return { kind: 'busy', retryAfterSeconds: error.answer.details?.retryAfterSeconds ?? 1 };
  return code < 500 ? { kind: 'outdated' } : undefined;
}
