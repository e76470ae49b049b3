import type { Counter } from 'prom-client';
import type { SecurityEvents } from '../../security-events.ts';
import type { FormEndpointName, FormRequest } from '../authorization-server.ts';
import type { Client } from '../options.ts';
import type { TokenData } from '../token-data.ts';
import { Act } from '../tokens/act.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import { createFormHeadCheck, type FormHeadCheck, parameter, parseForm } from './form.ts';
import { invalidRequest, toOAuthError } from './refusals.ts';

/** An endpoint that gets a token in a form: revocation or introspection. */
export interface FormEndpoint<Answer> {
  /** To be called before the body is read. */
  readonly checkHead: FormHeadCheck;
  /** Answers a form whose head was checked. */
  answer(request: FormRequest): Promise<Answer>;
}

/** An answer, and its word in the metric and in the audit trail. */
interface Result<Answer> {
  readonly result: string;
  readonly answer: Answer;
}

export interface FormEndpointParts {
  readonly clients: ClientAuthentication;
  /** While this data is missing the answer is 503, so that no client mistakes the token for an invalid one. */
  readonly data: Pick<TokenData, 'check'>;
  /** Counts each request, by its result or the error code of its refusal. */
  readonly results: Counter<'result'>;
  readonly events: SecurityEvents;
}

/** The endpoint's name, and how its request is recorded in the audit trail once the client is authenticated. */
interface FormEndpointNames {
  readonly endpoint: Exclude<FormEndpointName, 'token' | 'device_authorization'>;
  begin(act: Act, client: Client): void;
}

/** The form of an authenticated client. */
interface TokenForm {
  readonly client: Client;
  readonly token: string;
  /** Records the user and session of the token, for the audit trail. */
  readonly act: Act;
}

/**
 * Does the steps of RFC 7009 2.1 and RFC 7662 2.1 in the order of the token endpoint. `token_type_hint` is not read, because a hint
 * may be wrong and our tokens contain their type. An unexpected failure becomes an `OAuthError` with status 500.
 */
export function createFormEndpoint<Answer>(
  names: FormEndpointNames,
  parts: FormEndpointParts,
  decide: (form: TokenForm) => Promise<Result<Answer>>,
): FormEndpoint<Answer> {
  const count = (result: string): void => parts.results.inc({ result });
  const answer: FormEndpoint<Answer>['answer'] = async (request) => {
    const act = new Act(parts.events, request, names.endpoint);
    try {
      const decided = await decide(readTokenForm(request, parts, { act, begin: names.begin }));
      count(decided.result);
      act.came(decided.result);
      return decided.answer;
    } catch (error) {
      const refusal = toOAuthError(error);
      count(refusal.refusal.code);
      act.refused(refusal.refusal);
      throw refusal;
    } finally {
      act.end();
    }
  };
  return { checkHead: createFormHeadCheck(count), answer };
}

function readTokenForm(
  request: FormRequest,
  parts: FormEndpointParts,
  { act, begin }: Pick<FormEndpointNames, 'begin'> & { readonly act: Act },
): TokenForm {
  const form = parseForm(request.body);
  const client = parts.clients.authenticate(form, request, act);
  begin(act, client);
  const token = parameter(form, 'token');
  if (token === undefined) throw invalidRequest('the parameter token is missing');
  parts.data.check();
  return { client, token, act };
}
