import { describe, expect, test } from 'vitest';
import { auditFilters } from '../../../web/audit/audit-query.ts';
import { readAudit } from '../../../web/audit/audit-record.ts';

const TIME = '2026-03-09T10:00:00.123456Z';
const READ = {
  ...{ time: TIME, user: 'ada', impersonated: 'dana', verb: 'get', resource: 'pods/log', namespace: 'shop' },
  ...{ name: 'web-1', address: '/api/v1', code: 403, status: 'Failure', sources: ['10.0.0.1', '192.0.2.7'] },
};

describe('W-26 an audit record', () => {
  test.each([
    [
      'by KubeSphere',
      {
        ...{ User: { Username: 'ada' }, ImpersonatedUser: { Username: 'dana' }, Verb: 'get', RequestURI: '/api/v1' },
        ObjectRef: { Resource: 'pods', Subresource: 'log', Namespace: 'shop', Name: 'web-1' },
        ...{
          ResponseStatus: { Code: 403, Status: 'Failure' },
          SourceIPs: READ.sources,
          RequestReceivedTimestamp: TIME,
        },
      },
    ],
    [
      'by KubeSphere, with small letters inside',
      {
        ...{ User: { username: 'ada' }, ImpersonatedUser: { username: 'dana' }, Verb: 'get', RequestURI: '/api/v1' },
        ObjectRef: { resource: 'pods', subresource: 'log', namespace: 'shop', name: 'web-1' },
        ...{
          ResponseStatus: { code: 403, status: 'Failure' },
          SourceIPs: READ.sources,
          RequestReceivedTimestamp: TIME,
        },
      },
    ],
    [
      'by Kubernetes',
      {
        ...{ user: { username: 'ada' }, impersonatedUser: { username: 'dana' }, verb: 'get', requestURI: '/api/v1' },
        objectRef: { resource: 'pods', subresource: 'log', namespace: 'shop', name: 'web-1' },
        ...{
          responseStatus: { code: 403, status: 'Failure' },
          sourceIPs: READ.sources,
          requestReceivedTimestamp: TIME,
        },
      },
    ],
  ])('is read as it is spelled %s', (_, record) => {
    expect(readAudit(record)).toEqual(READ);
  });

  test('is read as empty where it says nothing, or something else than a text', () => {
    const nothing = {
      ...{ time: '', user: '', impersonated: '', verb: '', resource: '', namespace: '', name: '' },
      ...{ address: '', code: 0, status: '', sources: [] },
    };
    const odd = { User: ['ada'], Verb: 1, ObjectRef: 'pods', ResponseStatus: { code: 'x' }, SourceIPs: [{ a: 1 }, 2] };
    for (const record of [{}, null, 'text', odd, JSON.parse('{"__proto__":{"verb":"get"}}')])
      expect(readAudit(record)).toEqual(nothing);
  });

  test('has one source where the store has no list of them', () => {
    expect(readAudit({ SourceIPs: '10.0.0.1' }).sources).toEqual(['10.0.0.1']);
  });
});

describe('W-26 the words of a search of audit records', () => {
  test('are those of the address, by their names in the API', () => {
    const typed = {
      user: 'ad',
      verb: 'get,list',
      resource: 'pods',
      name: 'web',
      namespace: 's',
      source: '10.',
      code: '403',
    };
    expect(auditFilters({ ...typed, users: 'ada', names: 'web-1', namespaces: 'shop', sort: 'asc' })).toEqual({
      filters: {
        ...{ user_filter: 'ada', objectref_name_filter: 'web-1', objectref_namespace_filter: 'shop' },
        ...{ user_search: 'ad', verb_filter: 'get,list', objectref_resource_filter: 'pods' },
        ...{ objectref_name_search: 'web', objectref_namespace_search: 's' },
        ...{ source_ip_search: '10.', response_code_filter: '403' },
      },
      short: [],
    });
  });

  test('leave out parts of one character, which the API refuses, and say so', () => {
    expect(auditFilters({ user: 'a', name: 'web,x', source: '10', resource: 'p' })).toEqual({
      filters: { source_ip_search: '10', objectref_resource_filter: 'p' },
      short: ['user', 'name'],
    });
    expect(auditFilters({ user: '人' }).short).toEqual(['user']);
  });
});
