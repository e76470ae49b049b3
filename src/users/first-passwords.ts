import type { ReportedRequest, SecurityEventFields } from '../security-events.ts';
import type { User } from './user.ts';

/** The rules for a new password. Each name is what the password lacks or has too much of. */
export const PASSWORD_RULES = ['empty', 'hash', 'short', 'long', 'nul', 'lower_case', 'upper_case', 'digit'] as const;

export type PasswordRule = (typeof PASSWORD_RULES)[number];

/** A user who has proven the first password and sets one of their own. */
export interface FirstPasswordRequest {
  readonly user: User;
  readonly password: string;
  /** The caller's normalised address. */
  readonly source: string;
  /** What else the audit trail says about the request. */
  readonly trail: SecurityEventFields;
  /** The request, for the audit trail. */
  readonly request?: ReportedRequest | undefined;
  readonly signal: AbortSignal;
}

export type FirstPasswordResult =
  /** The directory has the new password now, and all earlier sessions of the user have ended. */
  | { readonly kind: 'set' }
  | { readonly kind: 'refused'; readonly broken: readonly PasswordRule[] }
  | { readonly kind: 'busy'; readonly retryAfterSeconds: number }
  /** The user has changed meanwhile, or needs no first password any more. */
  | { readonly kind: 'outdated' };

/** Sets the passwords of users who have `uninitialized`. Rejects when the password cannot be stored. */
export interface FirstPasswords {
  set(request: FirstPasswordRequest): Promise<FirstPasswordResult>;
}
