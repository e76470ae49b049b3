import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { User, UserDirectory } from '../../users/user.ts';
import type { TokenResponse } from '../authorization-server.ts';
import { parameter } from '../endpoints/form.ts';
import type { Grant, GrantRequest } from '../endpoints/grant.ts';
import { invalidRequest, refused } from '../endpoints/refusals.ts';
import { type BeginSession, createSessionBegin, type SessionBeginParts } from '../grants/session-begin.ts';
import type { OAuthOptions } from '../options.ts';
import type { SessionEnds } from '../sessions/session-ends.ts';
import type { SessionStore } from '../sessions/sessions.ts';
import { isAsSignedIn, type UserStandings } from '../tokens/user-standing.ts';
import type { DeviceDecision } from './device-record.ts';
import type { DeviceRecords } from './device-records.ts';
import { type DeviceRequest, type DeviceValues, endOf, mayUseDevices, type ShownRequest } from './device-request.ts';
import { PollPace } from './poll-pace.ts';

export interface DeviceGrantParts extends SessionBeginParts {
  readonly values: Pick<DeviceValues, 'codes'>;
  readonly deviceRecords: Pick<DeviceRecords, 'read' | 'attach' | 'fetched' | 'past'>;
  readonly users: Pick<UserDirectory, 'byName'>;
  readonly standing: UserStandings;
  readonly sessions: Pick<SessionStore, 'read' | 'update' | 'knowsEndsOf'>;
  readonly ends: Pick<SessionEnds, 'reused'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The device grant (RFC 8628 3.4). A poll reads memory. It writes in two cases (D-04): it attaches the device to a code that a person
 * has typed, and it fetches the decision.
 */
export function createDeviceGrant(options: OAuthOptions, parts: DeviceGrantParts): Grant {
  const pace = new PollPace(parts.clock);
  const redeem = createRedemption(options, parts);
  return async (request) => {
    if (!mayUseDevices(options, request.client.name)) throw refused('unauthorizedClient');
    const { userCode, ...device } = presented(request, parts);
    if (endOf(device) <= parts.clock.now() / 1000) throw unanswered(request, 'deviceCodeExpired');
    if (parts.deviceRecords.past(device.sid)) return refuseUsed(device, request, parts);
    const record = parts.deviceRecords.read(userCode);
    if (record?.decision && record.device?.sid === device.sid)
      return redeem({ userCode, device, decision: record.decision }, request);
    const isTooFast = pace.isTooFast(device.sid);
    if (record && !record.device) await attach(userCode, device, parts);
    throw unanswered(request, isTooFast ? 'slowDown' : 'authorizationPending');
  };
}

/** Opens the device code. Every fault of it has one answer. */
function presented(
  { form, client, act }: GrantRequest,
  { values, sessions }: Pick<DeviceGrantParts, 'values' | 'sessions'>,
): ShownRequest {
  const text = parameter(form, 'device_code');
  if (text === undefined) throw invalidRequest('the parameter device_code is missing');
  const code = values.codes.open(text);
  if (!code) throw refused('deviceCodeNotValid');
  const fault = faultOf(code, client.name, sessions);
  if (!fault) return code;
  act.says({ reason: fault });
  throw refused('deviceCodeNotValid');
}

/** Why the code is refused, for the audit trail alone. */
const faultOf = (
  { clientId, sid }: DeviceRequest,
  client: string,
  sessions: Pick<SessionStore, 'knowsEndsOf'>,
): 'other_client' | 'begun_elsewhere' | undefined => {
  if (clientId !== client) return 'other_client';
  return sessions.knowsEndsOf(sid) ? undefined : 'begun_elsewhere';
};

/** The answer to a poll that has nothing to fetch. A device sends a hundred of them, so they leave no line in the audit trail. */
function unanswered({ act }: GrantRequest, word: 'deviceCodeExpired' | 'slowDown' | 'authorizationPending'): Error {
  act.leavesNoLine();
  return refused(word);
}

/** The device polls again soon, so a failed write is no reason to refuse it. */
async function attach(
  userCode: string,
  device: DeviceRequest,
  { deviceRecords, logger }: Pick<DeviceGrantParts, 'deviceRecords' | 'logger'>,
): Promise<void> {
  await deviceRecords.attach(userCode, device).catch((error: unknown) => {
    logger.warn(
      { err: error, clientId: device.clientId },
      'a device cannot be shown yet to the person who typed its code',
    );
  });
}

/** A code that comes again after its tokens were fetched may be in other hands, so the session ends, as in B-42. */
async function refuseUsed(
  { sid }: DeviceRequest,
  { act }: GrantRequest,
  { deviceRecords, sessions, ends }: DeviceGrantParts,
): Promise<never> {
  const { user } = deviceRecords.past(sid) ?? {};
  if (user !== undefined) {
    act.involves({ user, sid });
    act.says({ reason: 'used_before' });
    if (sessions.read(user).live.has(sid)) await ends.reused(user, sid);
  }
  throw refused('deviceCodeNotValid');
}

/** A request with the decision of a person about this device. */
interface Decided {
  readonly userCode: string;
  readonly device: DeviceRequest;
  readonly decision: DeviceDecision;
}

function createRedemption(options: OAuthOptions, parts: DeviceGrantParts) {
  const begin = createSessionBegin(options, parts);
  return async (decided: Decided, request: GrantRequest): Promise<TokenResponse> => {
    const { userCode, device, decision } = decided;
    const { act } = request;
    act.involves({ user: decision.user, sid: device.sid });
    const tokens = decision.isAllowed ? await tokensOf(decided, request, { options, begin, parts }) : undefined;
    // If this fails, the record ends by itself. Until then each further poll finds the session that has begun.
    await parts.deviceRecords.fetched(userCode).catch((error: unknown) => {
      parts.logger.warn({ err: error, sid: device.sid }, 'the record of a device code cannot be removed yet');
    });
    if (tokens) return tokens;
    throw refused(decision.isAllowed ? 'deviceCodeNotValid' : 'deviceRefused');
  };
}

/** `undefined` if the user has changed, the sessions of the user or that of the browser had ended, or this one has begun before. */
async function tokensOf(
  { device, decision }: Decided,
  { client, act, http }: GrantRequest,
  {
    options,
    begin,
    parts,
  }: { readonly options: OAuthOptions; readonly begin: BeginSession; readonly parts: DeviceGrantParts },
): Promise<TokenResponse | undefined> {
  const user = parts.users.byName(decision.user);
  if (!user || !isAsDecided(user, decision, options, parts)) {
    act.says({ reason: 'user_changed' });
    return undefined;
  }
  const { sid, scope } = device;
  const { authTime, at, browserSid } = decision;
  const session = { sid, user, client, authTime, ...(scope === undefined ? {} : { scope }) };
  const named = { session, allowedAt: at, allowedIn: { sid: browserSid, authTime }, codeIssuedAt: at };
  const begun = await begin(named, { act, signal: http.signal });
  if (begun.kind === 'begun') return begun.tokens;
  act.says({ reason: begun.kind === 'reused' ? 'used_before' : 'user_changed' });
  if (begun.kind === 'reused') await parts.ends.reused(user.name, sid);
  return undefined;
}

/** It counts as old as the password: a replica that did not know yet of a change may have taken the decision. */
const isAsDecided = (
  user: User,
  { standing: digest, authTime }: DeviceDecision,
  { maximumClockSkewSeconds: skewSeconds }: OAuthOptions,
  { standing }: Pick<DeviceGrantParts, 'standing'>,
): boolean => isAsSignedIn(user, { standing: digest, at: authTime }, { standing, skewSeconds });
