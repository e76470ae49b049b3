import type { SecurityEventName } from '../security-events.ts';

/** How an event is told in the words of Kubernetes' audit records. */
export interface AuditWords {
  readonly verb: string;
  readonly resource: string;
  readonly subresource?: string;
  /** The API group of the resource, before the domain of the platform. Absent: the resource is in none. */
  readonly group?: 'iam' | 'tenant';
  /** The field that names the object. */
  readonly name?: string;
  /** Who did it: the user of the event, the client that asked, the caller of the TokenReview webhook, or this server by itself. */
  readonly by: 'user' | 'client' | 'webhook' | 'server';
  /** Whether the event itself is a failure; otherwise its `result` tells. */
  readonly isFailure?: true;
}

const TOKEN = { resource: 'tokens', name: 'sid', by: 'user' } as const;
const DEVICE = { verb: 'update', resource: 'deviceauthorizations', by: 'user' } as const;
const USER = { resource: 'users', group: 'iam' } as const;
const SESSIONS = { ...USER, subresource: 'sessions', name: 'user' } as const;
const PASSWORD = { ...USER, subresource: 'password' } as const;
const KEY = { resource: 'signingkeys', name: 'kid', by: 'server' } as const;

/** The events whose own fields have the words. */
export type CallEvent = 'cluster_call' | 'cluster_call_began';

/**
 * The words of each event. Verbs are those of Kubernetes where it has one. Somebody who searches audit records writes them into queries, so
 * they are part of what we promise (docs/audit.md).
 */
export const AUDIT_WORDS: Readonly<Record<Exclude<SecurityEventName, CallEvent>, AuditWords>> = {
  sign_in: { verb: 'create', ...SESSIONS, by: 'user' },
  code_issued: { verb: 'create', resource: 'authorizationcodes', name: 'sid', by: 'user' },
  code_redeemed: { verb: 'create', ...TOKEN },
  code_reused: { verb: 'create', ...TOKEN },
  device_authorized: DEVICE,
  device_refused: DEVICE,
  device_redeemed: { verb: 'create', ...TOKEN },
  refresh: { verb: 'create', ...TOKEN },
  refresh_token_reused: { verb: 'create', ...TOKEN },
  revocation: { verb: 'delete', ...TOKEN, by: 'client' },
  introspection: { verb: 'get', ...TOKEN, by: 'client' },
  token_review: { verb: 'create', resource: 'tokenreviews', name: 'sid', by: 'webhook' },
  sign_out: { verb: 'delete', ...SESSIONS, by: 'user' },
  user_creation: { verb: 'create', ...USER, name: 'target', by: 'user' },
  user_update: { verb: 'update', ...USER, name: 'target', by: 'user' },
  user_deletion: { verb: 'delete', ...USER, name: 'target', by: 'user' },
  password_change: { verb: 'update', ...PASSWORD, name: 'target', by: 'user' },
  client_refused: { verb: 'authenticate', resource: 'oauthclients', name: 'clientId', by: 'user' },
  audit_read: { verb: 'list', resource: 'auditevents', group: 'tenant', by: 'user' },
  reserved_identity_refused: { verb: 'impersonate', ...USER, name: 'user', by: 'user' },
  user_sessions_ended: { verb: 'deletecollection', ...SESSIONS, by: 'server' },
  sign_in_throttled: { verb: 'create', ...SESSIONS, by: 'server', isFailure: true },
  sign_in_failures_many: { verb: 'create', resource: 'sessions', by: 'server', isFailure: true },
  password_hash_refused: { verb: 'get', ...PASSWORD, name: 'user', by: 'server', isFailure: true },
  user_refused: { verb: 'get', ...USER, name: 'user', by: 'server', isFailure: true },
  signing_key_created: { verb: 'create', ...KEY },
  signing_key_published: { verb: 'update', ...KEY },
  signing_key_activated: { verb: 'update', ...KEY },
  signing_key_retired: { verb: 'delete', ...KEY },
  signing_key_revoked: { verb: 'delete', ...KEY },
  signing_keys_missing: { verb: 'get', resource: 'signingkeys', by: 'server', isFailure: true },
  signing_keys_unusable: { verb: 'get', resource: 'signingkeys', by: 'server', isFailure: true },
  revocation_data_stale: { verb: 'watch', resource: 'sessions', by: 'server', isFailure: true },
  session_record_unreadable: { verb: 'get', resource: 'sessions', by: 'server', isFailure: true },
  password_record_unreadable: { verb: 'get', ...PASSWORD, by: 'server', isFailure: true },
  user_object_faulty: { verb: 'get', ...USER, name: 'user', by: 'server', isFailure: true },
  password_moved: { verb: 'update', ...PASSWORD, name: 'user', by: 'server' },
};
