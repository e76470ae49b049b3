import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ApiClient, ApiRequest } from '../../../src/kubernetes/client/api-client.ts';
import { AccessReviews } from '../../../src/kubernetes/reviews.ts';
import { Largest } from '../../support/largest.ts';
import { checkSizesAsync, type Sizes } from '../../support/property.ts';

/** A question that fails is not made smaller: one of 300 groups has many smaller ones. */
const QUESTIONS = { cases: 300, short: 50, endOnFailure: true } as const;

const signal = new AbortController().signal;
const PATH = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

/** An API server that keeps what it is asked, and answers this. */
function scripted(answer: { readonly status?: number; readonly body?: unknown } = {}) {
  const asked: ApiRequest[] = [];
  const json = async (request: ApiRequest) => {
    asked.push(JSON.parse(JSON.stringify(request)) as ApiRequest);
    return { status: 201, headers: {}, body: { status: { allowed: true } }, ...answer };
  };
  return { asked, reviews: new AccessReviews({ json } as unknown as ApiClient) };
}

type Leaves = Readonly<Record<string, string>>;

/** Every text of a value by its path, such as `spec.groups.7`. */
function leavesOf(value: unknown, path = ''): Leaves {
  if (typeof value !== 'object' || value === null) return { [path]: String(value) };
  const inner = Object.entries(value).map(([key, one]) => leavesOf(one, path ? `${path}.${key}` : key));
  return Object.assign({}, ...inner) as Leaves;
}

const word = fc.stringMatching(/^[a-z0-9]{1,12}$/);
const resource = fc.record({
  verb: word,
  group: word,
  version: word,
  resource: word,
  subresource: word,
  namespace: word,
  name: word,
});
const subjectOf = ({ upTo }: Sizes) => fc.record({ name: word, uid: word, groups: fc.array(word, upTo(300, 1)) });

/** Where each part of a question stands in the review. */
const PLACES: Readonly<Record<string, string>> = {
  name: 'spec.user',
  uid: 'spec.uid',
  ...Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`groups.${at}`, `spec.groups.${at}`])),
};

async function sent(who: unknown, what: unknown): Promise<Leaves> {
  const { asked, reviews } = scripted();
  await reviews.review(who as never, what as never, signal);
  return leavesOf(asked[0]?.body);
}

/** The paths at which two bodies differ, with the new text. */
const difference = (before: Leaves, after: Leaves): Leaves => {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Object.fromEntries(
    [...paths].filter((path) => before[path] !== after[path]).map((path) => [path, after[path] ?? '']),
  );
};

const changedAt = <Value>(value: Value, path: string): Value => {
  const copy = structuredClone(value) as Record<string, unknown>;
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const holder = keys.reduce((inner, key) => inner[key] as Record<string, unknown>, copy);
  holder[last] = 'CHANGED';
  return copy as Value;
};

describe('the body of an access review', () => {
  test('changes in exactly the place of the one part of the subject that changes', async () => {
    const largest = new Largest('one part of a review', 'groups');
    await checkSizesAsync(
      (sizes) =>
        fc.asyncProperty(subjectOf(sizes), resource, fc.nat(), async (who, what, choice) => {
          largest.see(who.groups.length);
          const parts = Object.keys(leavesOf(who));
          const part = parts[choice % parts.length] ?? '';
          const before = await sent(who, { resource: what });
          expect(difference(before, await sent(changedAt(who, part), { resource: what }))).toEqual({
            [PLACES[part] ?? 'nowhere']: 'CHANGED',
          });
        }),
      QUESTIONS,
    );
    largest.expectAtLeast(300);
  });

  test('has every group of the subject, in its order, and nothing else of it', async () => {
    const largest = new Largest('a review', 'groups');
    await checkSizesAsync(
      (sizes) =>
        fc.asyncProperty(subjectOf(sizes), resource, async (who, what) => {
          largest.see(who.groups.length);
          const { asked, reviews } = scripted();
          await reviews.review(who, { resource: what }, signal);
          expect(asked).toEqual([
            {
              method: 'POST',
              path: PATH,
              purpose: 'review',
              body: {
                apiVersion: 'authorization.k8s.io/v1',
                kind: 'SubjectAccessReview',
                spec: { user: who.name, uid: who.uid, groups: who.groups, resourceAttributes: what },
              },
            },
          ]);
        }),
      QUESTIONS,
    );
    largest.expectAtLeast(300);
  });

  test.each(['verb', 'group', 'version', 'resource', 'subresource', 'namespace', 'name'])(
    'changes in its attribute %s alone when that changes, and lacks it when it is absent',
    async (name) => {
      const largest = new Largest(`a review whose ${name} changes`, 'groups');
      await checkSizesAsync(
        (sizes) =>
          fc.asyncProperty(subjectOf(sizes), resource, async (who, what) => {
            largest.see(who.groups.length);
            const before = await sent(who, { resource: what });
            const path = `spec.resourceAttributes.${name}`;
            expect(difference(before, await sent(who, { resource: changedAt(what, name) }))).toEqual({
              [path]: 'CHANGED',
            });
            const { [name as 'name']: _, ...rest } = what;
            expect(difference(before, await sent(who, { resource: rest }))).toEqual({ [path]: '' });
          }),
        { ...QUESTIONS, cases: 50, short: 20 },
      );
      largest.expectAtLeast(300);
    },
  );

  test.each(['path', 'verb'])('of a path changes in its %s alone', async (name) => {
    const who = { name: 'alice', uid: 'u', groups: ['staff'] };
    const nonResource = { path: '/kapis', verb: 'get' };
    const before = await sent(who, { nonResource });
    expect(difference(before, await sent(who, { nonResource: changedAt(nonResource, name) }))).toEqual({
      [`spec.nonResourceAttributes.${name}`]: 'CHANGED',
    });
  });
});

describe('the answer to an access review', () => {
  const ask = (body: unknown, status = 201): Promise<boolean> =>
    scripted({ status, body }).reviews.review(
      { name: 'alice', uid: 'u', groups: [] },
      { nonResource: { path: '/kapis', verb: 'get' } },
      signal,
    );

  test.each([
    [{ allowed: true }, true],
    [{ allowed: true, denied: false }, true],
    [{ allowed: true, evaluationError: 'one rule could not be read' }, true],
    [{ allowed: false }, false],
    [{ allowed: false, denied: true }, false],
    [{ allowed: true, denied: true }, false],
  ])('%j comes to %s', async (status, expected) => {
    expect(await ask({ status })).toBe(expected);
  });

  test.each([
    [undefined],
    [null],
    [{}],
    [{ status: {} }],
    [{ status: { allowed: 'true' } }],
    [{ status: { denied: true } }],
  ])('%j is none', async (body) => {
    await expect(ask(body)).rejects.toThrow('an access review');
  });

  test.each([300, 403, 500])('with code %i is none, whatever its body says', async (code) => {
    await expect(ask({ status: { allowed: true } }, code)).rejects.toThrow('an access review');
  });
});
