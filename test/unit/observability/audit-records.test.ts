import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createAuditRecords } from '../../../src/observability/audit-records.ts';
import { AUDIT_WORDS } from '../../../src/observability/audit-words.ts';
import { createLogger, createRecordOutput } from '../../../src/observability/logger.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import type { ReportedRequest, SecurityEventFields, SecurityEventName } from '../../../src/security-events.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const SERVER = 'system:gatehouse';

function newTrail() {
  const lines: string[] = [];
  const clock = new FakeClock();
  const logger = createLogger({ level: 'info', format: 'json' }, { write: (line) => void lines.push(line) });
  const output = createRecordOutput(logger, 'info');
  const write = createAuditRecords({ output, domain: 'gatehouse.io', clock, random: systemRandom });
  const report = (event: SecurityEventName, fields: SecurityEventFields = {}, request?: ReportedRequest): void =>
    write({ event, fields, level: 'warn', sentence: 'a sentence', request });
  return { lines, clock, report, records: () => lines.map((line) => JSON.parse(line)) };
}

/** A request that is answered when `answered` is called. */
function newRequest(change: Partial<ReportedRequest> = {}) {
  const endings: (() => void)[] = [];
  const request: ReportedRequest = {
    ...{ id: '5f0c2e9a7b314d88', startedAt: 0, path: '/oauth/token', userAgent: 'curl/8', status: 200 },
    ...{ caller: undefined, impersonated: undefined },
    whenAnswered: (run) => void endings.push(run),
    ...change,
  };
  return { request, answered: () => endings.map((ending) => ending()) };
}

describe('AU-03 a record of the audit trail', () => {
  const alarms = Object.entries(AUDIT_WORDS).filter(([, { by }]) => by === 'server');

  test.each(alarms)('of %s, which no request did, is by this server about an object', (event, words) => {
    const { report, lines, records } = newTrail();
    report(event as SecurityEventName, { user: 'ada', kid: 'k1' });
    expect(lines[0]).toMatch(/^\{"AuditID":"[0-9a-f]{16}","Level":"Metadata","Stage":"ResponseComplete",.+\}\n$/);
    const [{ User, ObjectRef, ResponseStatus, Verb, Annotations }] = records();
    expect([User, Verb, ObjectRef.Resource]).toEqual([{ Username: SERVER }, words.verb, words.resource]);
    expect(ObjectRef.Name).toBe({ user: 'ada', kid: 'k1' }[words.name ?? '']);
    expect(Annotations['gatehouse.io/user']).toBe(words.name === 'user' ? undefined : 'ada');
    expect(ResponseStatus).toEqual({ status: words.isFailure ? 'Failure' : 'Success' });
    expect(Annotations['gatehouse.io/event']).toBe(event);
  });

  test('is written when the head of the answer is, with its status, and says when the request came', async () => {
    const { report, records, clock } = newTrail();
    const { request, answered } = newRequest({ startedAt: clock.monotonic() });
    const came = clock.now();
    await clock.advance(1_500);
    const status = { value: 499 };
    report(
      'user_creation',
      { user: 'ada', target: 'joe' },
      Object.defineProperty(request, 'status', { get: () => status.value }),
    );
    expect(records()).toEqual([]);
    await clock.advance(500);
    status.value = 201;
    answered();
    expect(records()).toMatchObject([
      {
        ResponseStatus: { code: 201, status: 'Success' },
        RequestReceivedTimestamp: new Date(came).toISOString(),
        StageTimestamp: new Date(came + 2_000).toISOString(),
        ObjectRef: { Resource: 'users', APIGroup: 'iam.gatehouse.io', Name: 'joe' },
      },
    ]);
  });

  test('is a failure if the caller was refused, even if the page that says so was sent with 200', () => {
    const { report, records } = newTrail();
    const { request, answered } = newRequest();
    report('sign_in', { result: 'refused', reason: 'invalid_grant' }, request);
    answered();
    expect(records()[0].ResponseStatus).toEqual({ status: 'Failure', reason: 'invalid_grant', code: 200 });
  });

  test('has the verified groups of the caller, and none of somebody else', () => {
    const { report, records } = newTrail();
    const { request, answered } = newRequest({ caller: { name: 'ada', uid: 'u-1', groups: ['ops'] } });
    report('user_update', { user: 'ada' }, request);
    report('sign_in', { user: 'joe' }, request);
    answered();
    expect(records().map(({ User }) => User)).toEqual([
      { Username: 'ada', UID: 'u-1', Groups: ['ops'] },
      { Username: 'joe' },
    ]);
  });

  test('names no user if the caller was refused and not verified; the user that was tried is an annotation or the object', () => {
    const { report, records } = newTrail();
    const { request, answered } = newRequest();
    report('sign_in', { user: 'ada', result: 'refused' }, request);
    report('refresh_token_reused', { user: 'ada', sid: 's1', result: 'refused' }, request);
    answered();
    const told = records().map(({ User, ObjectRef, Annotations }) => [
      User.Username,
      ObjectRef.Name,
      Annotations['gatehouse.io/user'],
    ]);
    expect(told).toEqual([
      ['system:anonymous', 'ada', undefined],
      ['system:anonymous', 's1', 'ada'],
    ]);
  });

  test('of something done for a client that has gone is no failure', () => {
    const { report, records } = newTrail();
    const { request, answered } = newRequest({ status: 499 });
    report('user_deletion', { user: 'ada', target: 'joe', result: 'ok' }, request);
    answered();
    expect(records()[0].ResponseStatus).toEqual({ status: 'Success', code: 499 });
  });

  test('says how many groups it leaves out', () => {
    const { report, records } = newTrail();
    const groups = Array.from({ length: 100 }, (_, at) => `group-${`${at}`.padStart(10, '0')}`);
    const { request, answered } = newRequest({ caller: { name: 'ada', groups } });
    report('user_update', { user: 'ada' }, request);
    answered();
    const [{ User, Annotations }] = records();
    expect(User.Groups).toEqual(groups.slice(0, 64));
    expect(Annotations['gatehouse.io/groupsLeftOut']).toBe('36');
  });

  test('of what the server noticed in a request has the id of that request', () => {
    const { report, records } = newTrail();
    report('reserved_identity_refused', { user: 'ada', requestId: 'chosen', ownRequestId: '00ff' });
    report('reserved_identity_refused', { user: 'ada', requestId: '00fe' });
    expect(records().map(({ AuditID, Annotations }) => [AuditID, Annotations['gatehouse.io/requestId']])).toEqual([
      ['00ff', 'chosen'],
      ['00fe', undefined],
    ]);
  });

  test('AU-04 tells no field by the name of a secret', () => {
    const { report, lines } = newTrail();
    report('password_moved', { user: 'ada', password: 'canary', token: 'canary' });
    expect(lines[0]).not.toContain('canary');
    expect(lines[0]).toContain('"gatehouse.io/password":"[redacted]"');
  });

  test.each(['a', '"', '\u0001', '漢'])(
    'A-36 has at most 8 KiB, with names of the greatest length of %j',
    (character) => {
      const { report, lines } = newTrail();
      const name = character.repeat(256);
      const groups = Array.from({ length: 1_000 }, () => name);
      const names = {
        verb: name,
        group: name,
        version: name,
        resource: name,
        subresource: name,
        namespace: name,
        name,
      };
      const { request, answered } = newRequest({
        ...{ path: character.repeat(1_024), userAgent: name, caller: { name, uid: name, groups } },
        impersonated: { name, groups },
      });
      report(
        'cluster_call',
        { user: name, impersonatedUser: 'other', ...names, asUser: name, asGroups: groups },
        request,
      );
      answered();
      expect(Buffer.byteLength(lines[0] ?? '')).toBeLessThanOrEqual(8 * 1024);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({
        ...{ AuditID: '5f0c2e9a7b314d88', ResponseStatus: { code: 200 } },
        Annotations: { 'gatehouse.io/isCut': 'true' },
      });
    },
  );

  test('is not made if its level is not written', () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'info', format: 'json' }, { write: (line) => void lines.push(line) });
    const output = createRecordOutput(logger, 'warn');
    const parts = { output, domain: 'gatehouse.io', clock: new FakeClock(), random: systemRandom };
    createAuditRecords(parts)({ event: 'sign_in', fields: {}, level: 'info', sentence: '', request: undefined });
    expect(lines).toEqual([]);
  });

  test('has the words that docs/audit.md says', () => {
    const page = readFileSync(new URL('../../../docs/audit.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| (`[a-z_`, ]+`) \| `([a-z]+)` \| (.+) \|$/gm)];
    const said = rows.flatMap(([, events = '', verb, object]) =>
      events.split(', ').map((event) => [event.slice(1, -1), `${verb} ${object}`]),
    );
    const written = Object.entries(AUDIT_WORDS).map(([event, { verb, resource, group, subresource, name }]) => {
      const object = `\`${resource}${group ? `.${group}` : ''}${subresource ? `/${subresource}` : ''}\``;
      const named = name === undefined ? '' : `, the \`${name}\``;
      return [event, `${verb} ${object}${named}`];
    });
    expect(Object.fromEntries(said)).toEqual(Object.fromEntries(written));
  });
});
