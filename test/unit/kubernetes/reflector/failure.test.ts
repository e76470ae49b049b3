import { describe, expect, test } from 'vitest';
import {
  failureOfErrorEvent,
  failureOfResponse,
  missingRightAfter,
} from '../../../../src/kubernetes/reflector/failure.ts';
import { toStatus } from '../../../../src/kubernetes/status.ts';

const status = (code: number, more: object = {}) => ({ kind: 'Status', code, reason: '', message: 'm', ...more });
const ofResponse = (code: number, more?: object, retryAfter?: string) =>
  failureOfResponse(toStatus(status(code, more), code), retryAfter);
const ofEvent = (code: number, more?: object) => failureOfErrorEvent(toStatus(status(code, more), 0));

describe('failure', () => {
  test.each([
    [410, 'expired'],
    [400, 'unsupported'],
    [422, 'unsupported'],
    [401, 'refused'],
    [403, 'refused'],
    [404, 'refused'],
    [500, 'refused'],
    [502, 'refused'],
    [503, 'refused'],
    [504, 'refused'],
    [302, 'refused'],
  ])('of HTTP status %i is %s', (code, kind) => expect(ofResponse(code).kind).toBe(kind));

  const BEFORE = 'User "me" cannot list resource "nodes" in API group "" at the cluster scope';

  test.each([
    [403, 'the cluster answers 403'],
    [410, undefined],
    [504, BEFORE],
    [401, BEFORE],
    [404, BEFORE],
    [429, BEFORE],
    [400, BEFORE],
    [500, BEFORE],
  ])('of HTTP status %i leaves as the missing right: %s', (code, expected) => {
    expect(missingRightAfter(ofResponse(code), BEFORE)).toBe(expected);
  });

  test.each([
    ['closed', undefined],
    ['quiet', undefined],
    ['too_large_version', undefined],
    ['stream_error', undefined],
    ['refused', BEFORE],
    ['reset', BEFORE],
    ['unreadable', BEFORE],
    ['aborted', BEFORE],
  ] as const)('%s leaves as the missing right: %s', (kind, expected) => {
    expect(missingRightAfter({ kind }, BEFORE)).toBe(expected);
  });

  const at = (where: string): string =>
    `User "system:serviceaccount:a:b" cannot watch resource "pods" in API group "" ${where}`;

  test.each([
    [`pods is forbidden: ${at('at the cluster scope')}`, at('at the cluster scope')],
    [`secrets "keys" is forbidden: ${at('in the namespace "a"')}: RBAC: role not found`, at('in the namespace "a"')],
    ['forbidden: User "a b" cannot get path "/version"', 'User "a b" cannot get path "/version"'],
    ['no', 'the cluster answers 403'],
    [`User "a" cannot <b>get</b> path "/"`, 'the cluster answers 403'],
    [`User "${'a'.repeat(301)}" cannot get path "/"`, 'the cluster answers 403'],
    ['User "a\nb" cannot get path "/"', 'the cluster answers 403'],
  ])('of 403 takes of its message only what is in Kubernetes’ own form: %j', (message, missingRight) => {
    expect(ofResponse(403, { message })).toMatchObject({ kind: 'refused', missingRight });
  });

  test('C-08 of a 410 is the same as HTTP status and as ERROR event', () => {
    expect(ofEvent(410, { reason: 'Expired' })).toEqual(ofResponse(410, { reason: 'Expired' }));
  });

  test('C-11 of an ERROR event of another code is a stream error', () => {
    expect(ofEvent(500).kind).toBe('stream_error');
  });

  test('C-12 of a 429 carries the wait of the header, else of the details, in milliseconds', () => {
    const details = { details: { retryAfterSeconds: 3 } };
    expect(ofResponse(429, details, '7')).toMatchObject({ kind: 'throttled', retryAfterMs: 7_000 });
    expect(ofResponse(429, details)).toMatchObject({ kind: 'throttled', retryAfterMs: 3_000 });
    expect(ofEvent(429, details)).toMatchObject({ kind: 'throttled', retryAfterMs: 3_000 });
    expect(ofResponse(429, {}, 'Wed, 21 Oct 2026 07:28:00 GMT')).toMatchObject({ retryAfterMs: 0 });
    expect(ofResponse(429, {}, '-5')).toMatchObject({ retryAfterMs: 0 });
  });

  test('I8 of a 429 never asks for so long a wait that the reflector would count as dead', () => {
    expect(ofResponse(429, {}, '86400')).toMatchObject({ kind: 'throttled', retryAfterMs: 240_000 });
  });

  test('C-22 of a version that the server has not reached is known by its cause and by its old message', () => {
    const cause = { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } };
    expect(ofResponse(504, cause).kind).toBe('too_large_version');
    expect(ofEvent(504, cause).kind).toBe('too_large_version');
    const message = 'Timeout: Too large resource version: 9, current: 1';
    expect(ofResponse(504, { message }).kind).toBe('too_large_version');
    expect(ofResponse(500, { message }).kind).toBe('refused');
  });

  test('of an answer without a Status goes by the HTTP status', () => {
    expect(failureOfResponse(toStatus(undefined, 410), undefined).kind).toBe('expired');
    expect(failureOfResponse(toStatus('<html>', 502), undefined)).toEqual({ kind: 'refused', detail: '502' });
  });
});
