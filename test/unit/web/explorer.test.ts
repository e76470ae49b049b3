import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Description, operationsOf } from '../../../web/views/api/description.ts';
import { exampleOf, exampleText } from '../../../web/views/api/example.ts';
import { BELOW, BODY, curlOf, missingIn, requestOf, type Typed } from '../../../web/views/api/request.ts';

const described: Description = parse(
  readFileSync(new URL('../../../api/platform.openapi.yaml', import.meta.url), 'utf8'),
);
const operations = operationsOf(described);

function operation(id: string) {
  const found = operations.find((one) => one.id === id);
  if (!found) throw new Error(`no operation ${id}`);
  return found;
}

describe('the operations of our description', () => {
  test('have names of their own and a tag that is described; the withdrawn ones are left out', () => {
    expect(operations.length).toBeGreaterThan(60);
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
    const tags = (described.tags ?? []).map(({ name }) => name);
    for (const { tag } of operations) expect(tags).toContain(tag);
    expect(operations.filter(({ path }) => path.startsWith('/kapis/logging.'))).toEqual([]);
  });

  test('have parameters that are resolved', () => {
    for (const { parameters } of operations)
      for (const { name, in: place } of parameters) expect([name !== '', place]).toEqual([true, expect.any(String)]);
    expect(operation('listNodes').parameters.map(({ name }) => name)).toContain('labelSelector');
  });

  test.each([
    ['listNodes', 'person', true],
    ['createUser', 'person', true],
    ['getVersion', 'anybody', true],
    ['getKeys', 'anybody', true],
    ['requestTokens', 'client', false],
    ['introspectToken', 'client', false],
    ['reviewToken', 'server', false],
    ['signIn', 'anybody', false],
    ['logOut', 'person', false],
    ['getMetrics', 'anybody', false],
  ])('say who may send them (%s: %s)', (id, caller, isSent) => {
    expect(operation(id)).toMatchObject({ caller, isSent });
  });

  test('are asked for in a type that they have', () => {
    expect(operation('listNodes').accept).toBe('application/json');
    expect(operation('getDescriptionAsYaml').accept).toBe('application/yaml');
  });
});

describe('the example of a body', () => {
  test('is there for each body that is described, as JSON or as a form', () => {
    const bodies = operations.filter(({ body }) => body?.media.schema);
    expect(bodies.length).toBeGreaterThan(10);
    for (const one of bodies) {
      const text = exampleText(one, described);
      const isForm = one.body?.contentType === 'application/x-www-form-urlencoded';
      if (!isForm) expect(JSON.parse(text), one.id).toBeTypeOf('object');
      // A form of which the description says only that it is one.
      else if (one.id !== 'authorizeByForm') expect(text, one.id).toContain('=');
    }
  });

  test('is the one of the description where it has one', () => {
    expect(JSON.parse(exampleText(operation('createUser'), described))).toMatchObject({ metadata: { name: 'bob' } });
    expect(exampleText(operation('requestTokens'), described)).toContain('grant_type=password&');
  });

  test.each([
    [{ type: 'string' }, 'text'],
    [{ type: ['string', 'null'] }, 'text'],
    [{ type: 'integer', minimum: 3 }, 3],
    [{ type: 'boolean' }, true],
    [{ enum: ['a', 'b'] }, 'a'],
    [{ const: 'c' }, 'c'],
    [{ type: 'array', items: { type: 'string' } }, ['text']],
    [{ oneOf: [{ type: 'integer' }, { type: 'string' }] }, 0],
    [{ allOf: [{ properties: { a: { const: 1 } } }, { properties: { b: { const: 2 } } }] }, { a: 1, b: 2 }],
    [{ required: ['a'], properties: { a: { const: 1 }, b: { const: 2 } } }, { a: 1 }],
  ])('is made of the schema %j', (schema, example) => {
    expect(exampleOf(schema, { paths: {} })).toEqual(example);
  });

  test('comes to an end where a schema contains itself', () => {
    const tree = { properties: { below: { $ref: '#/components/schemas/Tree' } } };
    const example = exampleOf(tree, { paths: {}, components: { schemas: { Tree: tree } } });
    expect(JSON.stringify(example).length).toBeLessThan(200);
  });
});

describe('the request of an operation', () => {
  test('has what was typed in its place, and nothing that was left empty', () => {
    const typed = { 'path user': 'a/b ü', 'query limit': '3', 'query page': '' };
    expect(requestOf(operation('listLoginRecordsOfUser'), typed)).toEqual({
      method: 'GET',
      address: '/kapis/iam.gatehouse.io/v1alpha2/users/a%2Fb%20%C3%BC/loginrecords?limit=3',
      headers: {},
    });
    expect(missingIn(operation('listLoginRecordsOfUser'), {})).toEqual(['user']);
    expect(missingIn(operation('listLoginRecordsOfUser'), typed)).toEqual([]);
  });

  test.each([
    ['', '/api'],
    ['v1/pods?limit=2', '/api/v1/pods?limit=2'],
    ['/v1/pods', '/api/v1/pods'],
    ['v1/a b#c', '/api/v1/a%20b'],
    ['//evil.example/', '/api/evil.example/'],
  ])('stays below its path (%j)', (below, address) => {
    expect(requestOf(operation('getCoreApi'), { [BELOW]: below }).address).toBe(address);
  });
});

/** The words of a command line, as a shell gives them to the program. */
const wordsOf = (command: string): string[] =>
  execFileSync('sh', ['-c', `TOKEN=made-up; curl() { printf '%s\\0' "$@"; }; ${command}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

describe('the call as a curl command', () => {
  const origin = 'https://gatehouse.example';
  const curl = (id: string, typed: Typed): string => curlOf(operation(id), typed, origin);

  test('sends what the page sends, whatever was typed', () => {
    const hostile = `it's "$HOME" \`id\` $(id) \\ ; & | * [a] {b}\n!x`;
    expect(wordsOf(curl('createUser', { [BODY]: hostile }))).toEqual([
      ...['-sS', '-g', '-X', 'POST', '-H', 'Authorization: Bearer made-up', '-H', 'Content-Type: application/json'],
      ...['--data-raw', hostile, `${origin}/kapis/iam.gatehouse.io/v1alpha2/users`],
    ]);
    const listed = wordsOf(curl('listNodes', { 'query labelSelector': hostile, 'header Last-Event-ID': hostile }));
    expect(new URL(listed.at(-1) ?? '').searchParams.get('labelSelector')).toBe(hostile);
    expect(listed).toContain(`Last-Event-ID: ${hostile}`);
  });

  test('has credentials only where they are asked for', () => {
    expect(curl('getVersion', {})).toBe(`curl -sS -g ${origin}/version`);
    expect(curl('requestTokens', { [BODY]: 'grant_type=password' })).toContain('-u "$CLIENT_ID:$CLIENT_SECRET"');
    expect(curl('requestTokens', { [BODY]: 'grant_type=password&client_id=a' })).not.toContain('-u ');
    expect(curl('reviewToken', {})).toContain('$SERVER_TOKEN');
  });
});
