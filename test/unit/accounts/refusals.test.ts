import { describe, expect, test } from 'vitest';
import * as refusals from '../../../src/accounts/refusals.ts';
import { ClusterError } from '../../../src/kubernetes/client/api-client.ts';
import { badRequest, type StatusError } from '../../../src/status-error.ts';
import { NAMES } from '../../support/accounts/memory-user-records.ts';

const REFUSALS = new refusals.AccountRefusals(NAMES);
const MIA = { name: 'mia', group: 'iam.gatehouse.io', kind: 'users' };

describe('a refusal of the account API', () => {
  test.each([
    [REFUSALS.notFound('globalroles', 'mia'), 404, 'NotFound', 'globalroles.iam.gatehouse.io "mia" not found'],
    [REFUSALS.alreadyExists('mia'), 409, 'AlreadyExists', 'users.iam.gatehouse.io "mia" already exists'],
    [REFUSALS.emailTaken('mia'), 409, 'AlreadyExists', 'spec.email: another user has this address'],
    [REFUSALS.conflict('mia'), 409, 'Conflict', 'Operation cannot be fulfilled on users.iam.gatehouse.io "mia"'],
    [REFUSALS.roleNameTaken('mia', 'mia-a'), 409, 'Conflict', 'the ClusterRoleBinding "mia-a" is there'],
    [REFUSALS.keptElsewhere('mia'), 409, 'Conflict', 'users.iam.gatehouse.io "mia" is kept in the users file'],
    [REFUSALS.forbiddenChange('mia', 'why'), 403, 'Forbidden', 'users.iam.gatehouse.io "mia" is forbidden: why'],
  ])('names the user and says what is wrong: %s', ({ answer }, code, reason, words) => {
    const kind = code === 404 ? 'globalroles' : 'users';
    expect(answer).toMatchObject({ code, reason, message: expect.stringContaining(words), details: { ...MIA, kind } });
  });

  test('names the field, where there is one', () => {
    const causes = [{ reason: 'FieldValueForbidden', message: 'why', field: 'spec.groups' }];
    expect(REFUSALS.forbiddenChange('mia', 'why', 'spec.groups').answer.details).toEqual({ ...MIA, causes });
    expect(REFUSALS.forbiddenChange('mia', 'why').answer.details).toEqual(MIA);
    expect(REFUSALS.emailTaken('mia').answer.details?.causes).toEqual([
      { reason: 'FieldValueDuplicate', message: 'another user has this address', field: 'spec.email' },
    ]);
    expect(refusals.badField('a.b', 'is bad').answer).toMatchObject({
      ...{ code: 400, message: 'a.b: is bad' },
      details: { causes: [{ reason: 'FieldValueInvalid', message: 'is bad', field: 'a.b' }] },
    });
  });

  test('has every bad field in its message', () => {
    const [one, other] = [
      { reason: 'r', message: 'is bad', field: 'a' },
      { reason: 'r', message: 'is odd' },
    ];
    const messageOf = (...causes: (typeof one | typeof other)[]) => REFUSALS.invalidUser('mia', causes).answer.message;
    expect(messageOf(one)).toBe('User.iam.gatehouse.io "mia" is invalid: a: is bad');
    expect(messageOf(one, other)).toBe('User.iam.gatehouse.io "mia" is invalid: [a: is bad, is odd]');
    expect(REFUSALS.invalidUser('mia', [one]).answer).toMatchObject({
      ...{ code: 422, reason: 'Invalid' },
      details: { name: 'mia', group: 'iam.gatehouse.io', kind: 'User', causes: [one] },
    });
  });

  test('says when to come again', () => {
    expect(refusals.notSaved('it is not saved', undefined).answer).toMatchObject({
      ...{ code: 503, message: 'it is not saved, please try again later', details: { retryAfterSeconds: 5 } },
    });
    expect(refusals.attemptsTurnedAway(7).answer).toMatchObject({ code: 429, details: { retryAfterSeconds: 7 } });
  });
});

describe('what the cluster says of a write', () => {
  const said = (code: number, more: object = {}): ClusterError =>
    new ClusterError('it', { status: code, headers: {}, body: { kind: 'Status', code, ...more } } as never);
  const answerOf = (error: unknown) => {
    const { answer } = REFUSALS.toWriteFailure(error, 'mia') as StatusError;
    return [answer.code, answer.reason, answer.message] as const;
  };

  test.each([
    [404, { message: 'users "mia" not found' }, [404, 'NotFound', 'users.iam.gatehouse.io "mia" not found']],
    [404, { message: 'the server could not find the requested resource' }, [503, 'ServiceUnavailable']],
    [409, { reason: 'AlreadyExists' }, [409, 'AlreadyExists', 'users.iam.gatehouse.io "mia" already exists']],
    [409, { reason: 'Conflict' }, [409, 'Conflict']],
    [400, {}, [422, 'Invalid', 'User.iam.gatehouse.io "mia" is invalid: the cluster takes it for invalid']],
    [422, {}, [422, 'Invalid', 'User.iam.gatehouse.io "mia" is invalid: the cluster takes it for invalid']],
    [401, {}, [503, 'ServiceUnavailable']],
    [403, {}, [503, 'ServiceUnavailable', 'the cluster did not save the user: the cluster refuses it (403)']],
    [429, {}, [503, 'ServiceUnavailable']],
    [500, {}, [503, 'ServiceUnavailable', 'the cluster did not save the user, please try again later']],
  ])('with %i %j becomes %j', (code, more, expected) => {
    const [gotCode, reason, message] = answerOf(said(code, more));
    expect([gotCode, reason, message].slice(0, expected.length)).toEqual(expected);
  });

  test('AC-84 is never told as something to try again when a policy or a missing right refuses it', () => {
    const policy =
      "users.iam.gatehouse.io \"mia\" is forbidden: ValidatingAdmissionPolicy 'here.gatehouse.accounts' with binding 'here.gatehouse.accounts' denied request: <odd>";
    const failure = REFUSALS.toWriteFailure(said(403, { reason: 'Forbidden', message: policy }), 'mia');
    expect((failure as StatusError).answer).toEqual({
      ...{ code: 503, reason: 'ServiceUnavailable' },
      message:
        'the cluster did not save the user: the ValidatingAdmissionPolicy "here.gatehouse.accounts" of the cluster refuses it, and will until the policy is changed',
    });
    const right = 'User "a" cannot create resource "users" in API group "iam.gatehouse.io" at the cluster scope';
    const lacking = said(403, { reason: 'Forbidden', message: `users is forbidden: ${right}` });
    expect(answerOf(lacking)[2]).toBe(`the cluster did not save the user: a right is missing: ${right}`);
    expect(refusals.notSaved('it is not saved', lacking).answer.details).toBeUndefined();
  });

  test('is a 503 when it says nothing, and what we have said ourselves stays', () => {
    expect(answerOf(new Error('away'))).toEqual([
      ...[503, 'ServiceUnavailable', 'the cluster did not answer, please try again later'],
    ]);
    const own = badRequest('own');
    expect(REFUSALS.toWriteFailure(own, 'mia')).toBe(own);
  });

  test('is repeated field by field, but for the password and what may hold it', () => {
    const fields = ['spec', 'spec.password', 'spec.password[0]', 'spec.passwords', 'spec.email', 'my.spec', 'status'];
    const causes = fields.map((field) => ({ reason: 'r', message: 'quoted', field }));
    const failure = REFUSALS.toWriteFailure(said(422, { details: { causes } }), 'mia');
    const { answer } = failure as StatusError;
    const quoted = answer.details?.causes?.filter(({ message }) => message === 'quoted');
    expect(quoted?.map(({ field }) => field)).toEqual(['spec.email', 'my.spec', 'status']);
    expect(new Set(answer.details?.causes?.map(({ message }) => message))).toEqual(
      new Set(['quoted', 'the cluster takes it for invalid']),
    );
  });
});
