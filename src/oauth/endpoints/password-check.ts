import type { PasswordSignIn, SignInRecorder, SignInResult } from '../../users/sign-in.ts';
import type { FormRequest } from '../authorization-server.ts';
import type { PasswordWay, TokenMetrics } from '../metrics.ts';
import type { Act } from '../tokens/act.ts';

export interface PasswordCheckParts {
  readonly signIn: Pick<PasswordSignIn, 'signIn' | 'userOf'>;
  readonly recorder?: SignInRecorder | undefined;
  readonly metrics: Pick<TokenMetrics, 'signIns'>;
}

export interface TypedPassword {
  readonly by: PasswordWay;
  readonly username: string;
  readonly password: string;
  readonly http: Pick<FormRequest, 'source' | 'address' | 'userAgent' | 'signal'>;
  readonly act: Act;
}

/** The outcome in the login records, by the result of the sign-in. `busy` is not recorded: a full queue is not the user's failure. */
const RECORDED = { ok: 'succeeded', refused: 'incorrect_password', throttled: 'throttled', busy: undefined } as const;

/** Checks a typed name and password, and records the outcome for the user, the audit trail and the metrics. */
export async function checkPassword(
  { by, username, password, http, act }: TypedPassword,
  { signIn, recorder, metrics }: PasswordCheckParts,
): Promise<SignInResult> {
  const named = signIn.userOf(username);
  act.involves({ user: named?.name });
  const result = await signIn.signIn({ username, password, source: http.source, signal: http.signal });
  metrics.signIns.inc({ by, result: result.kind });
  const user = result.kind === 'ok' ? result.user : named;
  const outcome = RECORDED[result.kind];
  const { address = http.source, userAgent = '' } = http;
  if (user && outcome) recorder?.record({ user, outcome, address, userAgent });
  if (result.kind !== 'ok') act.came(result.kind);
  return result;
}
