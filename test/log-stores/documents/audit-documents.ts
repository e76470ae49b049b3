import { dayOf, type StoredDocument, uidOf } from './stored-document.ts';

/** Namespace, resource, name and subresource. */
const OBJECTS: readonly (readonly [string | undefined, string, string | undefined, string | undefined])[] = [
  ['shop', 'pods', 'cart-7d9f8c6b5-x2x9p', undefined],
  ['shop', 'pods', 'db-0', 'exec'],
  ['shop', 'deployments', 'cart', 'scale'],
  ['shop', 'secrets', undefined, undefined],
  ['shop-staging', 'deployments', 'cart', undefined],
  ['billing', 'cronjobs', 'nightly-backup', 'status'],
  ['kube-system', 'configmaps', 'coredns', undefined],
  ['gone', 'pods', 'old-app-5d6f7c8b4-h2j4k', 'log'],
  ['team-a', 'persistentvolumeclaims', 'data-web-0', undefined],
  ['team-a', 'pods', 'web*1', undefined],
  [undefined, 'nodes', 'worker-1', undefined],
  [undefined, 'users', 'ada', undefined],
  ['', 'workspaces', 'retail', undefined],
];

const PEOPLE: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['ada', ['system:authenticated', 'admins'], ['10.0.0.7']],
  ['ada.lovelace', ['system:authenticated'], ['10.0.0.70', '192.168.1.1']],
  ['system:serviceaccount:kube-system:replicaset-controller', ['system:serviceaccounts'], ['fd00::17']],
  ['Größe', ['platform-regular', 'system:authenticated'], ['10.0.1.7']],
  ['admin', ['system:masters'], ['::1', '127.0.0.1']],
];

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
const LEVELS = ['Metadata', 'Request', 'RequestResponse'];
const RESULTS: readonly object[] = [
  { code: 200, metadata: {} },
  { code: 201, metadata: {} },
  { code: 403, status: 'Failure', reason: 'Forbidden', metadata: {} },
  { code: 404, status: 'Failure', reason: 'NotFound', metadata: {} },
  { code: 200, status: 'Success', metadata: {} },
];

const RECORDS = 300;
const FIRST_MS = Date.parse('2026-03-05T20:00:00.000Z');
const STEP_MS = 16 * 60_000 + 1;

/** Audit records in the indices of their days. Their members are spelled in three ways, and lists may be single texts. */
export function auditDocuments(prefix = 'ks-logstash-auditing'): StoredDocument[] {
  const usual = Array.from({ length: RECORDS }, (_, at) => recordOf(at, FIRST_MS + at * STEP_MS));
  const late = [6, 19].map((at) => recordOf(at, Date.parse('2036-03-07T10:00:00Z') + at * STEP_MS));
  return [...usual, ...late].map(({ at, source }) => ({ index: `${prefix}-${dayOf(at)}`, source }));
}

/** Record number `at`. Two records of ten are stages of the same request, with the same id. */
function recordOf(at: number, ms: number): { readonly at: number; readonly source: object } {
  const [Namespace, Resource, Name, Subresource] = OBJECTS[at % OBJECTS.length] ?? [];
  const [Username, groups, addresses] = PEOPLE[Math.floor(at / 2) % PEOPLE.length] ?? ['', [], []];
  const Groups = at % 7 === 0 ? groups[0] : groups;
  const time = new Date(ms).toISOString();
  const isFirstStage = at % 10 === 8;
  const object = present({ Resource, Namespace, Name, Subresource, APIVersion: 'v1' });
  const source = {
    Level: LEVELS[at % LEVELS.length],
    AuditID: uidOf(`request ${at % 10 === 9 ? at - 1 : at}`),
    Stage: isFirstStage ? 'RequestReceived' : 'ResponseComplete',
    Verb: VERBS[Math.floor(at / 3) % VERBS.length],
    User: at % 3 === 0 ? { Username, Groups } : { username: Username, groups: Groups },
    SourceIPs: at % 5 === 0 ? addresses[0] : addresses,
    ObjectRef: at % 3 === 2 ? withSmallLetters(object) : object,
    ...(isFirstStage ? {} : { ResponseStatus: RESULTS[at % RESULTS.length] }),
    RequestReceivedTimestamp: `${time.slice(0, 23)}456Z`,
  };
  return { at: ms, source };
}

const present = (members: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));

const withSmallLetters = (members: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name.charAt(0).toLowerCase() + name.slice(1), value]),
  );
