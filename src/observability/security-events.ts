import { Counter, type Registry } from 'prom-client';
import type { ReportedRequest, SecurityEventFields, SecurityEventName, SecurityEvents } from '../security-events.ts';
import type { Logger } from './logger.ts';

/** The message for people; the member `event` is for machines. */
const SENTENCES: Readonly<Record<SecurityEventName, string>> = {
  sign_in: 'sign-in',
  code_issued: 'a browser goes back to a client with an authorization code',
  code_redeemed: 'an authorization code was redeemed',
  code_reused: 'an authorization code was redeemed again: its session is ended',
  device_authorized: 'a person has allowed a device to sign in',
  device_refused: 'a person has refused a device',
  device_redeemed: 'a device code was redeemed',
  refresh: 'refresh',
  revocation: 'revocation',
  introspection: 'introspection',
  token_review: 'token review',
  sign_out: 'sign-out',
  cluster_call: 'call to the cluster',
  cluster_call_began: 'a stream to the cluster begins',
  reserved_identity_refused: 'the name of a user, or of one of the user’s groups, is reserved for the cluster',
  client_refused: 'a client was refused',
  audit_read: 'search of audit records',
  refresh_token_reused: 'a refresh token was used again after its replay window: its session is ended',
  user_creation: 'creation of a user',
  user_update: 'change of a user',
  user_deletion: 'removal of a user',
  password_change: 'change of a password',
  user_sessions_ended: 'all sessions of a user were ended',
  sign_in_throttled: 'sign-ins are refused because of earlier failures',
  sign_in_failures_many: 'more sign-ins fail than people mistype',
  password_hash_refused: 'a stored password hash cannot be used',
  user_refused: 'a user is ignored',
  signing_key_created: 'there was no signing key: one was made',
  signing_key_published: 'the next signing key is published',
  signing_key_activated: 'another signing key signs from now on',
  signing_key_retired: 'a signing key that no token depends on any more was removed',
  signing_key_revoked: 'a signing key was revoked: its tokens are refused',
  signing_keys_missing: 'signing keys are missing; the last good ones stay in use',
  signing_keys_unusable: 'the stored signing keys cannot be used',
  revocation_data_stale:
    'recent sign-outs, revocations and removals may be unknown here: the Secrets that record them cannot be followed',
  session_record_unreadable: 'a session record cannot be read: the user gets 503 until it is repaired or deleted',
  password_record_unreadable: 'the stored password of a user cannot be read: nobody can sign in with it',
  user_object_faulty: 'a User object has something that cannot be used',
  password_moved: 'a password was found in a User object',
};

/** Routine events: reported, but no cause for concern by themselves, unless a caller was refused. */
const ROUTINE: ReadonlySet<SecurityEventName> = new Set<SecurityEventName>([
  'sign_in',
  'code_issued',
  'code_redeemed',
  'device_authorized',
  'device_refused',
  'device_redeemed',
  'refresh',
  'revocation',
  'introspection',
  'token_review',
  'sign_out',
  'user_creation',
  'user_update',
  'user_deletion',
  'password_change',
  'cluster_call',
  'cluster_call_began',
  'audit_read',
  'user_sessions_ended',
  'signing_key_created',
  'signing_key_published',
  'signing_key_activated',
  'signing_key_retired',
]);

/** Results that mean that a caller was refused. */
const REFUSED: ReadonlySet<unknown> = new Set(['refused', 'throttled', 'busy', 'failed']);

/** Whether a caller was refused. */
export const isRefused = ({ result }: SecurityEventFields): boolean => REFUSED.has(result);

/** An event as it is written. */
export interface AuditEntry {
  readonly event: SecurityEventName;
  readonly fields: SecurityEventFields;
  /** `warn`: a refusal or an alarm. */
  readonly level: 'info' | 'warn';
  /** What happened, for people. */
  readonly sentence: string;
  readonly request: ReportedRequest | undefined;
}

/** Writes an event into the audit trail. */
export type AuditTrail = (entry: AuditEntry) => void;

/** The trail in the form of our log: one line for each event, with the fields as they were reported. `logger` is that of the audit trail. */
export const createAuditLines =
  (logger: Logger): AuditTrail =>
  ({ event, fields, level, sentence }) =>
    logger[level]({ event, ...fields }, sentence);

/** Counts each event and writes it into the trail. */
export function createSecurityEvents(write: AuditTrail, registry: Registry): SecurityEvents {
  const counter = new Counter({
    name: 'gatehouse_security_events_total',
    help: 'Acts and other security events, by name; the audit trail has a line with the same event for each.',
    labelNames: ['event'],
    registers: [registry],
  });
  // Each series starts at 0: Prometheus sees no increase of a series that begins at 1.
  for (const event of Object.keys(SENTENCES)) counter.inc({ event }, 0);
  return {
    report: (event, fields, request) => {
      counter.inc({ event });
      const level = ROUTINE.has(event) && !isRefused(fields) ? 'info' : 'warn';
      write({ event, fields, level, sentence: SENTENCES[event], request });
    },
  };
}
