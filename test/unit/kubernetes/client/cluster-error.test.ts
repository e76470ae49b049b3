import { describe, expect, test } from 'vitest';
import { ClusterError } from '../../../../src/kubernetes/client/api-client.ts';

const errorOf = (status: number, headers = {}, body: unknown = undefined): ClusterError =>
  new ClusterError('a review', { status, headers, body, bytes: 0 });

describe('an error of the cluster', () => {
  test('says what was asked and how it was answered, in 500 characters', () => {
    const body = { code: 403, reason: 'Forbidden', message: 'no' };
    expect(String(errorOf(403, {}, body))).toBe('ClusterError: a review was answered 403 Forbidden: no');
    const { message } = errorOf(500, {}, { message: 'x'.repeat(1_000) });
    expect(message.length).toBe('a review was answered '.length + 500);
  });

  test.each([429, 503])('of %i knows how long the API server wants to be left alone', (status) => {
    expect(errorOf(status, { 'retry-after': '7' }).retryAfterMs).toBe(7_000);
    expect(errorOf(status, { 'retry-after': ['7'] }).retryAfterMs).toBe(7_000);
    expect(errorOf(status, {}, { details: { retryAfterSeconds: 3 } }).retryAfterMs).toBe(3_000);
    expect(errorOf(status).retryAfterMs).toBe(0);
  });

  test.each([409, 500, 504])('of %i does not ask to be left alone', (status) => {
    expect(errorOf(status, { 'retry-after': '7' }).retryAfterMs).toBe(0);
  });

  test.each([
    [
      "users.iam.x.io \"a\" is forbidden: ValidatingAdmissionPolicy 'here.gatehouse.accounts' with binding 'b' denied request: no",
      'the ValidatingAdmissionPolicy "here.gatehouse.accounts" of the cluster refuses it, and will until the policy is changed',
    ],
    [
      'admission webhook "validate.kyverno.svc" denied the request: policy Secret/x for resource violation',
      'the admission webhook "validate.kyverno.svc" of the cluster refuses it, and will until the webhook is changed',
    ],
    [
      'secrets is forbidden: User "a" cannot create resource "secrets" in API group "" in the namespace "n"',
      'a right is missing: User "a" cannot create resource "secrets" in API group "" in the namespace "n"',
    ],
    ['<script> of something else', 'the cluster refuses it (403)'],
    ["ValidatingAdmissionPolicy '<script>' with binding 'b' denied request", 'the cluster refuses it (403)'],
  ])('AC-84 of 403 names what refuses for good, in words that may be shown: %s', (message, refusal) => {
    expect(errorOf(403, {}, { code: 403, reason: 'Forbidden', message }).lastingRefusal).toBe(refusal);
    // A policy may answer 422, and a webhook without a code 400: these are named by any 4xx.
    const isNamed = /^the (?:ValidatingAdmissionPolicy|admission webhook) /.test(refusal);
    for (const code of [400, 409, 422])
      expect(errorOf(code, {}, { code, reason: 'Conflict', message }).lastingRefusal).toBe(
        isNamed ? refusal : undefined,
      );
    expect(errorOf(500, {}, { code: 500, message }).lastingRefusal).toBeUndefined();
  });

  test('knows the fields that were refused, and why', () => {
    const causes = [
      { reason: 'FieldValueInvalid', message: 'Invalid value: "x"', field: 'spec.email' },
      { field: 7 },
      null,
    ];
    const error = errorOf(422, {}, { code: 422, reason: 'Invalid', message: 'no', details: { causes } });
    const empty = { reason: '', message: '', field: '' };
    expect(error.causes).toEqual([causes[0], empty, empty]);
    expect(error.status).toMatchObject({ code: 422, reason: 'Invalid', message: 'no' });
    expect(errorOf(422, {}, { details: { causes: 'none' } }).causes).toEqual([]);
  });

  test.each([
    'users "ada" is forbidden: User "system:serviceaccount:apps:gatehouse" cannot impersonate resource "users" in API group "" at the cluster scope',
    'groups "developers" is forbidden: User "g" cannot impersonate resource "groups" in API group "" at the cluster scope: RBAC: x',
    'serviceaccounts "a" is forbidden: User "g" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "b"',
    'uids.authentication.k8s.io "7" is forbidden: User "g" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope',
  ])('tells that we may not act as somebody else: %s', (message) => {
    expect(errorOf(403, {}, { code: 403, message }).isOfImpersonation).toBe(true);
    expect(errorOf(404, {}, { code: 404, message }).isOfImpersonation).toBe(false);
  });

  test.each([
    'users.iam.gatehouse.io "x" is forbidden: User "ada" cannot create resource "users" in API group "iam.gatehouse.io" at the cluster scope',
    'clusterrolebindings.rbac.authorization.k8s.io "users "x" is forbidden: User "g" cannot impersonate resource "users"" is forbidden: no',
    '',
  ])('tells that the other may not do it: %s', (message) => {
    expect(errorOf(403, {}, { code: 403, message }).isOfImpersonation).toBe(false);
  });
});
