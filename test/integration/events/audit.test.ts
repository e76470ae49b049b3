import { describe, expect, test } from 'vitest';
import { foundBody } from '../../support/logs/canned-store.ts';
import { startOwnStore } from '../logs/logs-under-test.ts';
import { SearchStand } from './search-stand.ts';

const RECORD = { AuditID: '5f6a1c1e', Verb: 'delete', User: { Username: 'ada' } };
const aggregations = { counted0: { value: 3 } };
const found = foundBody([{ _index: 'i', _source: RECORD, sort: [1] }], 7, { aggregations });

const startWithStore = async (settings = {}) => {
  const store = await startOwnStore(() => ({ body: found }));
  return { store, stand: await SearchStand.start({ auditing: { host: store.url, ...settings } }) };
};

/** The namespaces in the first search that the store got; `undefined`: all. */
const namespacesIn = (body: unknown): readonly string[] | undefined => {
  const text = JSON.stringify(body);
  const names = [...text.matchAll(/"ObjectRef\.Namespace\.keyword":"([^"]+)"/g)].map(([, name]) => name ?? '');
  return text.includes('ObjectRef.Namespace') ? names : undefined;
};

describe('a search of audit records', () => {
  test('AU-01 finds those of all for somebody who may list audit events in the whole cluster', async () => {
    const { store, stand } = await startWithStore();
    const { body } = await stand.auditRecords('user_filter=ada&response_code_filter=200,403&verb_filter=delete');
    expect(body).toEqual({ query: { total: 7, records: [RECORD] } });
    const anyOf = (...should: object[]) => ({ bool: { should, minimum_should_match: 1 } });
    expect(store.asked[0]?.body['query']).toEqual({
      bool: {
        filter: [
          anyOf({ terms: { 'User.Username.keyword': ['ada'] } }, { terms: { 'User.username.keyword': ['ada'] } }),
          { terms: { 'ResponseStatus.code': [200, 403] } },
          { terms: { 'Verb.keyword': ['delete'] } },
        ],
      },
    });
    const { body: counted } = await stand.auditRecords('operation=statistics');
    expect(counted).toEqual({ statistics: { resources: 3, events: 7 } });
  });

  test('AU-01 AU-02 finds those of the namespaces in which the caller may list audit events, and none of the cluster', async () => {
    const { store, stand } = await startWithStore();
    stand.kinds.allow('red', { group: 'tenant.gatehouse.io', resource: 'auditevents' });
    stand.kinds.allow('green', { resource: 'events' });
    expect((await stand.auditRecords('', 'joe')).status).toBe(200);
    expect(store.asked.map(({ body }) => namespacesIn(body))).toEqual([['red']]);
    await stand.auditRecords('', 'ada');
    expect(namespacesIn(store.asked[1]?.body)).toBeUndefined();
  });

  test('AU-01 takes the right to events for it with `auditing.rightOfEvents`', async () => {
    const { store, stand } = await startWithStore({ rightOfEvents: true });
    stand.kinds.allow('red', { group: 'tenant.gatehouse.io', resource: 'auditevents' });
    stand.kinds.allow('green', { resource: 'events' });
    await stand.auditRecords('', 'joe');
    expect(store.asked.map(({ body }) => namespacesIn(body))).toEqual([['green']]);
  });

  test('AU-01 is 403 for somebody without a right in any namespace, finds nothing in one that is named, and asks no store', async () => {
    const { store, stand } = await startWithStore();
    const { status, body } = await stand.auditRecords('', 'joe');
    expect([status, body.message]).toEqual([
      403,
      expect.stringContaining('auditevents.tenant.gatehouse.io is forbidden'),
    ]);
    const named = await stand.auditRecords('objectref_namespace_filter=red', 'joe');
    expect(named.body).toEqual({ query: { total: 0, records: [] } });
    expect(store.asked).toEqual([]);
  });

  test('AU-05 leaves a line of the audit trail, which says who has asked for what', async () => {
    const { stand } = await startWithStore();
    await stand.auditRecords('operation=statistics&objectref_namespace_filter=red,gone', 'joe');
    await stand.auditRecords('operation=none', 'joe');
    const lines = stand.kinds.service.gatehouse.log.filter(({ event }) => event === 'audit_read');
    expect(lines).toMatchObject([
      {
        logger: 'audit',
        level: 'info',
        user: 'joe',
        operation: 'statistics',
        namespaces: ['red'],
        unknownNamespaces: 1,
      },
    ]);
    expect(lines[0]).toHaveProperty('requestId');
    expect(lines[0]).toHaveProperty('source');
  });

  test('is 400 for a code that is no number, and 404 without a store', async () => {
    const { stand } = await startWithStore();
    expect((await stand.auditRecords('response_code_filter=200,x')).body.message).toBe(
      'invalid query parameter "response_code_filter": "x" is not a whole number',
    );
    const without = await SearchStand.start();
    expect((await without.auditRecords('')).body.message).toBe('the search of audit records is not configured');
    const { status, body } = await without.auditRecords('', 'joe');
    expect([status, body.message]).toEqual([
      403,
      expect.stringContaining('auditevents.tenant.gatehouse.io is forbidden'),
    ]);
  });
});
