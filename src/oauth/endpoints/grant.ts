import type { FormRequest, TokenResponse } from '../authorization-server.ts';
import type { Client } from '../options.ts';
import type { Act } from '../tokens/act.ts';
import type { Form } from './form.ts';

/** A token request that passed every check that is the same for all grants. */
export interface GrantRequest {
  readonly form: Form;
  readonly client: Client;
  /** Known words only; `undefined` when none were asked for. */
  readonly scope: string | undefined;
  readonly http: FormRequest;
  /** Is told who signs in or refreshes, and what comes of it, for the audit trail. */
  readonly act: Act;
}

/** One way to come by tokens (RFC 6749 1.3). Refusals are thrown as `OAuthError`. */
export type Grant = (request: GrantRequest) => Promise<TokenResponse>;
