import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RequestAttributes, Subject } from '../../../src/authorization/authorizer.ts';
import { AnswerWriter, NO_BODY } from '../../../src/http/answer/answer.ts';
import { createRoutes, serveRoutes } from '../../../src/http/app.ts';
import type { Handler, Route } from '../../../src/http/exchange.ts';
import { checkAsync } from '../../support/property.ts';
import { type AppUnderTest, appParts, startApp } from './app-under-test.ts';

/** So many requests, each again with one part changed. */
const REQUESTS = { cases: 100, short: 40, endOnFailure: true } as const;

/** One of each shape that a path of Kubernetes has: what is asked must not depend on which paths we serve today. */
const SHAPES = [
  '/kapis/{group}/{version}/{resource}',
  '/kapis/{group}/{version}/{resource}/{name}',
  '/kapis/{group}/{version}/namespaces/{namespace}/{resource}',
  '/kapis/{group}/{version}/{resource}/{name}/{subresource}',
  '/kapis/{group}/{version}/namespaces/{namespace}/{resource}/{name}',
  '/kapis/{group}/{version}/namespaces/{namespace}/{resource}/{name}/{subresource}',
];

const writer = new AnswerWriter(appParts().clock, 1_000);
const answer: Handler = (exchange) => writer.send(exchange, 200, {}, NO_BODY);
const shaped = (template: string): Route => ({
  template,
  access: 'authorized',
  admission: 'other',
  produces: 'any',
  methods: { GET: answer, POST: answer, PUT: answer, PATCH: answer, DELETE: answer },
});

let app: AppUnderTest;
let asked: [Subject, RequestAttributes][] = [];

beforeAll(async () => {
  const authorize = (...question: [Subject, RequestAttributes]) => {
    asked.push(question);
    return { allowed: true, source: 'review' as const };
  };
  app = await startApp({ authorizer: { authorize } }, (parts) =>
    serveRoutes([...createRoutes(parts), ...SHAPES.map(shaped)], parts),
  );
});
afterAll(() => app.stop());
beforeEach(() => {
  asked = [];
});

/** Words that mean something else in a path, or that the tests change to. */
const RESERVED = new Set(['namespaces', 'status', 'finalize', 'changed']);
const segment = fc.stringMatching(/^[a-z][a-z0-9]{0,11}$/).filter((text) => !RESERVED.has(text));
const place = fc.record({
  group: segment,
  version: segment,
  namespace: segment,
  resource: segment,
  name: segment,
  subresource: segment,
});
type Place = typeof place extends fc.Arbitrary<infer Value> ? Value : never;

const VERBS = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const;
type Method = keyof typeof VERBS;

async function attributesOf(shape: string, at: Partial<Place>, method: Method = 'GET'): Promise<object> {
  const path = shape.replaceAll(/\{(\w+)\}/g, (_, name: keyof Place) => at[name] ?? '');
  const before = asked.length;
  expect((await app.get(path, { method })).status).toBe(200);
  expect(asked).toHaveLength(before + 1);
  const [subject, attributes] = asked.at(-1) as [Subject, RequestAttributes];
  expect(subject).toMatchObject({ name: 'alice', uid: 'u-1', groups: ['developers', 'system:authenticated'] });
  return (attributes as { resource: object }).resource;
}

describe('what the authorizer is asked about a request', () => {
  test('changes in exactly the part of the path that changes', async () => {
    const FULL = SHAPES.at(-1) ?? '';
    await checkAsync(
      fc.asyncProperty(place, fc.constantFrom(...(Object.keys(VERBS) as Method[])), async (at, method) => {
        const before = await attributesOf(FULL, at, method);
        expect(before).toEqual({ verb: VERBS[method], ...at });
        for (const part of Object.keys(at) as (keyof Place)[]) {
          const other = await attributesOf(FULL, { ...at, [part]: 'changed' }, method);
          expect(other).toEqual({ ...before, [part]: 'changed' });
        }
      }),
      REQUESTS,
    );
  });

  test.each(SHAPES)('has the parts of %s and no other', async (shape) => {
    const all: Place = { group: 'g', version: 'v', namespace: 'ns', resource: 'things', name: 'n', subresource: 'sub' };
    const named = Object.entries(all).filter(([part]) => shape.includes(`{${part}}`));
    const isCollection = !shape.includes('{name}');
    const verbs = isCollection ? { ...VERBS, GET: 'list', DELETE: 'deletecollection' } : VERBS;
    for (const [method, verb] of Object.entries(verbs)) {
      expect(await attributesOf(shape, all, method as Method)).toEqual({ verb, ...Object.fromEntries(named) });
    }
  });

  test('has the verb watch, and the name that a field selector gives', async () => {
    const [collection = ''] = SHAPES;
    const at = { group: 'g', version: 'v', resource: 'things' };
    expect(await attributesOf(`${collection}?watch=true`, at)).toEqual({ verb: 'watch', ...at });
    expect(await attributesOf(`${collection}?watch=1&fieldSelector=metadata.name=n`, at)).toEqual({
      verb: 'watch',
      name: 'n',
      ...at,
    });
  });
});
