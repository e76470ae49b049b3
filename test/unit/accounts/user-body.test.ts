import { describe, expect, test } from 'vitest';
import { accountNames } from '../../../src/accounts/names.ts';
import { parseUser } from '../../../src/accounts/writes/user-body.ts';

const NAMES = accountNames('example');
const parse = (body: unknown) => parseUser(Buffer.from(JSON.stringify(body)), NAMES);
const refusal = (text: string) => {
  try {
    parseUser(Buffer.from(text), NAMES);
    return undefined;
  } catch (error) {
    return (error as { answer: { code: number; message: string } }).answer;
  }
};

describe('AC-11 AC-31 the body of a write', () => {
  test.each(['', '{', '[]', '"x"', 'null', '{"metadata":{"name":"a","name":"b"}}', '{"spec":{"password":"Secr3t-x"}'])(
    'is refused with 400 and not repeated: %s',
    (text) => {
      expect(refusal(text)?.code).toBe(400);
      expect(refusal(text)?.message).not.toContain('Secr3t');
    },
  );

  test('is refused when it nests deeper than any user', () => {
    expect(refusal(`{"x":${'['.repeat(40)}${']'.repeat(40)}}`)?.code).toBe(400);
  });

  test('may say its kind and version, but no other', () => {
    expect(parse({ kind: 'User', apiVersion: 'iam.example.io/v1alpha2' }).faults).toEqual([]);
    expect(refusal('{"kind":"Node"}')).toMatchObject({ code: 400, message: expect.stringContaining('kind') });
    expect(refusal('{"apiVersion":"v1"}')).toMatchObject({ code: 400, message: expect.stringContaining('apiVersion') });
  });

  test('has what it says of a user; members that nobody knows and null count as absent', () => {
    const written = parse({
      metadata: { name: 'a', labels: null, annotations: { x: 'y' }, other: 1 },
      spec: { email: '', groups: ['g'], nickname: 'n' },
      extra: {},
    });
    expect(written).toEqual({
      name: 'a',
      resourceVersion: undefined,
      labels: undefined,
      annotations: { x: 'y' },
      hasSpec: true,
      email: '',
      lang: undefined,
      displayName: undefined,
      description: undefined,
      groups: ['g'],
      password: undefined,
      state: undefined,
      faults: [],
    });
  });

  test('names every member of a wrong type', () => {
    const { faults } = parse({
      metadata: { name: 1, resourceVersion: 2, labels: [], annotations: { 'a/b': 3 } },
      spec: { email: {}, lang: 1, displayName: 1, description: 1, groups: ['a', 1], password: 5 },
      status: { state: true },
    });
    expect(faults.map(({ field }) => field).sort()).toEqual([
      'metadata.annotations["a/b"]',
      'metadata.labels',
      'metadata.name',
      'metadata.resourceVersion',
      'spec.description',
      'spec.displayName',
      'spec.email',
      'spec.groups',
      'spec.lang',
      'spec.password',
      'status.state',
    ]);
  });
});
