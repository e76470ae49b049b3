import type { FormRequest, TokenResponse } from '../authorization-server.ts';
import type { Client } from '../options.ts';
import type { Act } from '../tokens/act.ts';
import type { Form } from './form.ts';

/** A token request that has passed all checks that every grant shares. */
export interface GrantRequest {
  readonly form: Form;
  readonly client: Client;
  /** Known words only; `undefined` when none were requested. */
  readonly scope: string | undefined;
  readonly http: FormRequest;
  /** Records who signs in or refreshes, and the result, for the audit trail. */
  readonly act: Act;
}

/** One way to obtain tokens (RFC 6749 1.3). Refusals are thrown as `OAuthError`. */
export type Grant = (request: GrantRequest) => Promise<TokenResponse>;
