import { describe, expect, test } from 'vitest';
import { failureOfErrorEvent, failureOfResponse, isRightRefused } from '../../../src/kubernetes/reflector/failure.ts';
import { toStatus } from '../../../src/kubernetes/status.ts';

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

  test.each([
    [403, true],
    [410, false],
    [504, undefined],
    [429, undefined],
    [401, undefined],
    [400, undefined],
    [500, undefined],
  ])('of HTTP status %i tells whether we lack the right: %s', (code, expected) => {
    expect(isRightRefused(ofResponse(code))).toBe(expected);
  });

  test.each([
    ['closed', false],
    ['quiet', false],
    ['too_large_version', false],
    ['stream_error', false],
    ['refused', undefined],
    ['reset', undefined],
    ['unreadable', undefined],
    ['aborted', undefined],
  ] as const)('%s tells whether we lack the right: %s', (kind, expected) => {
    expect(isRightRefused({ kind })).toBe(expected);
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
