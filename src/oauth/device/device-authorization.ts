import type { Counter } from 'prom-client';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { SecurityEvents } from '../../security-events.ts';
import type { DeviceAuthorization, FormRequest } from '../authorization-server.ts';
import type { ClientAuthentication } from '../endpoints/client-authentication.ts';
import { createFormHeadCheck, type FormHeadCheck, parameter, parseForm } from '../endpoints/form.ts';
import { knownScope } from '../endpoints/grant.ts';
import { refused, throttled, toOAuthError } from '../endpoints/refusals.ts';
import { withParameters } from '../endpoints/with-parameters.ts';
import { endpointUrl, type OAuthOptions } from '../options.ts';
import type { SessionReads } from '../sessions/session-reads.ts';
import { Act } from '../tokens/act.ts';
import {
  CODE_LIFE_SECONDS,
  DEVICE_SECONDS,
  type DeviceValues,
  mayUseDevices,
  type ShownRequest,
} from './device-request.ts';
import { IssueLimit } from './issue-limit.ts';
import { POLL_SECONDS } from './poll-pace.ts';
import { newUserCode, shownUserCode } from './user-code.ts';

export interface DeviceAuthorizationParts {
  readonly clients: ClientAuthentication;
  readonly values: DeviceValues;
  /** It cannot write: a request leaves nothing behind (D-01). */
  readonly sessions: Pick<SessionReads, 'newId'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly events: SecurityEvents;
  /** Counts each request, by its result or the error code of its refusal. */
  readonly results: Counter<'result'>;
}

/** `POST /oauth/device_authorization`. */
export interface DeviceAuthorizationEndpoint {
  /** To be called before the body is read. */
  readonly checkHead: FormHeadCheck;
  /** Answers a form whose head was checked. Throws an `OAuthError`. */
  answer(request: FormRequest): Promise<DeviceAuthorization>;
}

/** The device authorization endpoint (RFC 8628 3.1). The request travels in the codes that it is answered with. */
export function createDeviceAuthorization(
  options: OAuthOptions,
  parts: DeviceAuthorizationParts,
): DeviceAuthorizationEndpoint {
  const count = (result: string): void => parts.results.inc({ result });
  const issue = createIssue(options, parts);
  const answer: DeviceAuthorizationEndpoint['answer'] = async (request) => {
    const act = new Act(parts.events, request, 'device_authorization');
    try {
      const issued = issue(request, act);
      count('ok');
      return issued;
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

function createIssue(
  options: OAuthOptions,
  { clients, values, sessions, clock, random }: DeviceAuthorizationParts,
): (request: FormRequest, act: Act) => DeviceAuthorization {
  const limit = new IssueLimit(clock);
  return (request, act) => {
    const form = parseForm(request.body);
    const client = clients.authenticate(form, request, act);
    if (!mayUseDevices(options, client.name)) throw refused('unauthorizedClient');
    const waitMs = limit.take(request.source);
    if (waitMs > 0) throw throttled('tooManyDevices', Math.ceil(waitMs / 1000));
    const scope = knownScope(parameter(form, 'scope'));
    const shown: ShownRequest = {
      ...{ sid: sessions.newId(), clientId: client.name, address: request.address ?? request.source },
      ...{ since: Math.floor(clock.now() / 1000), userCode: newUserCode(random) },
      ...(scope === undefined ? {} : { scope }),
    };
    return answerWith(shown, options, values);
  };
}

/** The members of RFC 8628 3.2, in its order. */
function answerWith(
  shown: ShownRequest,
  { issuer }: Pick<OAuthOptions, 'issuer'>,
  { codes, requests }: DeviceValues,
): DeviceAuthorization {
  const user_code = shownUserCode(shown.userCode);
  const verification_uri = endpointUrl(issuer, 'device');
  const request = requests.seal(shown, DEVICE_SECONDS);
  return {
    device_code: codes.seal(shown, CODE_LIFE_SECONDS),
    user_code,
    verification_uri,
    verification_uri_complete: withParameters(verification_uri, { user_code, request }),
    expires_in: DEVICE_SECONDS,
    interval: POLL_SECONDS,
  };
}
