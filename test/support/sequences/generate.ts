import { type Chance, chanceOf } from '../oracles/chance.ts';
import { collectionOf, groupOf, KINDS, type SequenceKind } from './kinds.ts';
import { changed, newest, oldest, uidOf } from './references.ts';
import { reviewStep } from './reviews.ts';
import { fieldSelector, labelSelector, NAMES, nameOf, newObject, type Setting } from './setting.ts';
import type { Caller, Json, Sequence, Step, Watch } from './steps.ts';
import { watchOf } from './watches.ts';

/** The number of steps in the longest sequence, which is the first one of a run. */
const MOST_STEPS = 24;
const FEWEST_STEPS = 6;

/** The sequences that follow from a seed. */
export function sequencesOf(seed: number, count: number): Sequence[] {
  return Array.from({ length: count }, (_, number) => sequenceOf(chanceOf(seed + number * 7_919), number));
}

function sequenceOf(chance: Chance, number: number): Sequence {
  const id = `q${number}`;
  // Every kind is the first one of some sequence, whatever the seed.
  const kinds = [KINDS[number % KINDS.length] as SequenceKind, chance.oneOf(KINDS)];
  const caller = chance.happens(0.4) ? callerOf(chance, id, kinds) : undefined;
  const setting = { chance, id, namespace: `${id}-home`, kinds, caller };
  const length = number === 0 ? MOST_STEPS : FEWEST_STEPS + chance.below(MOST_STEPS - FEWEST_STEPS + 1);
  // Some objects exist from the start.
  const first = kinds.map((kind) => createStep(setting, kind));
  const steps = [...first, ...Array.from({ length: length - first.length }, () => stepOf(setting))];
  const watches: Watch[] = [0, 1].flatMap(() => (chance.happens(0.5) ? [watchOf(setting, steps.length)] : []));
  return { id, namespace: setting.namespace, caller, steps, watches };
}

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

function callerOf({ oneOf, happens, below }: Chance, id: string, kinds: readonly SequenceKind[]): Caller {
  const rule = (): Json => {
    const kind = oneOf(kinds);
    const resources = [kind.plural, ...(happens(0.5) ? [`${kind.plural}/status`] : [])];
    const verbs = happens(0.2) ? ['*'] : VERBS.filter(() => happens(0.6));
    const names = happens(0.3) ? { resourceNames: [nameOf(id, oneOf(NAMES))] } : {};
    return { apiGroups: [groupOf(kind)], resources, verbs: verbs.length === 0 ? ['get'] : verbs, ...names };
  };
  const some = (): Json[] => Array.from({ length: 1 + below(2) }, rule);
  const ofNamespace = { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'patch'] };
  return {
    name: `${id}-caller`,
    rules: [...some(), ...(happens(0.5) ? [ofNamespace] : [])],
    clusterRules: some(),
  };
}

type Maker = (setting: Setting, kind: SequenceKind) => Step;

const MAKERS: readonly (readonly [share: number, make: Maker])[] = [
  [24, (setting, kind) => createStep(setting, kind)],
  [12, (setting, kind) => ({ method: 'GET', ...objectAt(setting, kind) })],
  [12, (setting, kind) => listStep(setting, kind)],
  [14, (setting, kind) => updateStep(setting, kind)],
  [18, (setting, kind) => patchStep(setting, kind)],
  [14, (setting, kind) => deleteStep(setting, kind)],
  [6, (setting) => reviewStep(setting)],
  [1, (setting, kind) => oddStep(setting, kind)],
];

function stepOf(setting: Setting): Step {
  const { chance, kinds, caller } = setting;
  const make = chance.oneOf(MAKERS.flatMap(([share, maker]) => Array<Maker>(share).fill(maker)));
  const step = make(setting, chance.oneOf(kinds));
  // If the caller is not an administrator, the server looks up the bound role in a cache, which may lag.
  const isBinding = step.path.includes('bindings') && step.method !== 'GET';
  const asCaller = caller && !isBinding && chance.happens(0.5) ? { 'impersonate-user': caller.name } : {};
  const query = { ...step.query, ...(step.method !== 'GET' && chance.happens(0.06) ? { dryRun: 'All' } : {}) };
  return { ...step, query, headers: { ...asCaller, ...step.headers } };
}

function objectAt(
  { chance, id, namespace }: Setting,
  kind: SequenceKind,
): { readonly path: string; readonly collection: string } {
  const collection = collectionOf(kind, namespace);
  return { path: `${collection}/${nameOf(id, chance.oneOf(NAMES))}`, collection };
}

function createStep(setting: Setting, kind: SequenceKind): Step {
  const { chance, id, namespace } = setting;
  const elsewhere = chance.happens(0.08) ? nameOf(id, chance.oneOf(['a', 'b', 'none'])) : namespace;
  const object = newObject(setting, kind, nameOf(id, chance.oneOf(NAMES)));
  const path = collectionOf(kind, elsewhere);
  return { method: 'POST', path, collection: path, body: spoiled(chance, id, object) };
}

/** Sometimes gives an object metadata that no server accepts. */
function spoiled({ oneOf, happens }: Chance, id: string, object: Json): Json {
  if (!happens(0.12)) return object;
  const metadata = oneOf<Json>([
    { name: `${id}-Not_a name` },
    { labels: { 'a b': 'c' } },
    { labels: { a: 'b c' } },
    { annotations: { '-': 'c' } },
    { labels: 'a' },
    { labels: { a: 1 } },
    { namespace: 'elsewhere' },
    { resourceVersion: '5' },
    { finalizers: ['no slash'] },
    { name: '' },
  ]);
  return { ...object, metadata: { ...object.metadata, ...metadata } };
}

function listStep({ chance, id, namespace }: Setting, kind: SequenceKind): Step {
  const { oneOf, happens } = chance;
  const path = collectionOf(kind, namespace);
  const query: Record<string, string> = {};
  if (!kind.namespaced || happens(0.4)) query['labelSelector'] = labelSelector(chance, id);
  if (happens(0.3)) query['fieldSelector'] = fieldSelector(chance, id, kind);
  if (kind.namespaced && happens(0.3)) query['limit'] = oneOf(['1', '2']);
  if (happens(0.15)) {
    query['resourceVersion'] = oneOf([newest(path), oldest(path)]);
    query['resourceVersionMatch'] = oneOf(['Exact', 'NotOlderThan', 'Odd']);
  }
  return { method: 'GET', path, collection: path, query };
}

function updateStep(setting: Setting, kind: SequenceKind): Step {
  const { chance, id } = setting;
  const { oneOf, happens } = chance;
  const { path, collection } = objectAt(setting, kind);
  const resourceVersion = oneOf<string | null>([newest(path), newest(path), newest(path), oldest(path), null]);
  const uid = happens(0.1) ? '0d9c2b0e-6a3f-4c57-9a51-3f1f6c1f7a55' : uidOf(path);
  const name = happens(0.05) ? 'another' : path.slice(path.lastIndexOf('/') + 1);
  const own = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name, resourceVersion, uid } };
  const isWhole = kind.plural.endsWith('bindings');
  const by = happens(0.25) && !isWhole ? {} : kind.change(chance, id);
  const isStatus = kind.hasStatus && kind.status !== undefined && happens(0.25);
  const change = isStatus ? { ...by, status: kind.status?.(chance) } : by;
  const metadata = { ...own.metadata, ...change.metadata };
  return {
    method: 'PUT',
    path: isStatus ? `${path}/status` : path,
    collection,
    body: changed(path, { ...own, ...change, metadata }),
  };
}

const MERGE = 'application/merge-patch+json';
const OPERATIONS = 'application/json-patch+json';

function patchStep(setting: Setting, kind: SequenceKind): Step {
  const { chance, id } = setting;
  const { oneOf, happens } = chance;
  const { path, collection } = objectAt(setting, kind);
  if (happens(0.1)) return { method: 'PATCH', path, collection, type: MERGE, body: oddPatch(chance) };
  if (happens(0.15)) return { method: 'PATCH', path, collection, type: OPERATIONS, body: operations(chance) };
  const isStatus = (kind.hasStatus || kind.plural === 'loginrecords') && happens(0.35);
  const state = { status: kind.status?.(chance) ?? {} };
  const body = isStatus ? state : happens(0.2) ? { metadata: { finalizers: null } } : kind.change(chance, id);
  const resourceVersion = oneOf([newest(path), oldest(path)]);
  const metadata = happens(0.2) ? { ...body.metadata, resourceVersion } : body.metadata;
  return {
    method: 'PATCH',
    path: isStatus ? `${path}/status` : path,
    collection,
    type: MERGE,
    body: metadata === undefined ? body : { ...body, metadata },
  };
}

const oddPatch = ({ oneOf }: Chance): Json =>
  oneOf<Json>([
    { metadata: null },
    { metadata: { name: 'another' } },
    { metadata: { name: null } },
    { metadata: { namespace: 'elsewhere' } },
    { metadata: { labels: { 'a b': 'c' } } },
    { metadata: { annotations: { '-': 'c' } } },
    { metadata: 'text' },
    { metadata: { uid: '0d9c2b0e-6a3f-4c57-9a51-3f1f6c1f7a55' } },
    { kind: 'Other' },
    {},
  ]);

const operations = ({ oneOf }: Chance): Json =>
  oneOf<Json>([
    [{ op: 'add', path: '/metadata/labels/d', value: '1' }],
    [
      { op: 'test', path: '/metadata/labels/tier', value: 'one' },
      { op: 'remove', path: '/metadata/labels/tier' },
    ],
    [{ op: 'remove', path: '/metadata/annotations/none' }],
    [{ op: 'remove', path: '/metadata' }],
  ]);

/** A step that the simulated cluster does not support, or part of which it ignores. */
function oddStep(setting: Setting, kind: SequenceKind): Step {
  const { chance, id, namespace } = setting;
  const collection = collectionOf(kind, namespace);
  const spoiledContent = { ...newObject(setting, kind, nameOf(id, chance.oneOf(NAMES))), ...INVALID[kind.plural] };
  return chance.oneOf<Step>([
    { method: 'DELETE', path: collection, query: { labelSelector: `sequence=${id}` } },
    { method: 'POST', path: `/api/v1/namespaces/${namespace}/pods/${id}-a/eviction`, body: {} },
    { method: 'PUT', path: `/api/v1/namespaces/${id}-a/finalize`, body: { metadata: { name: `${id}-a` } } },
    { method: 'POST', path: collection, body: spoiledContent },
  ]);
}

/** Contents that a server refuses if it knows the rules of the kind. */
const INVALID: Readonly<Record<string, Json>> = {
  pods: { spec: { containers: [] } },
  secrets: { data: { 'a b': '' } },
  configmaps: { data: { 'a b': '' } },
  leases: { spec: { leaseDurationSeconds: -1 } },
  users: { spec: { lang: 'en' } },
  loginrecords: { spec: { type: 'Token' } },
  roles: { rules: [{ verbs: [] }] },
  clusterroles: { rules: [{ verbs: [] }] },
};

function deleteStep(setting: Setting, kind: SequenceKind): Step {
  const { oneOf, happens } = setting.chance;
  const { path, collection } = objectAt(setting, kind);
  const preconditions = oneOf<Json>([
    { uid: uidOf(path) },
    { uid: '0d9c2b0e-6a3f-4c57-9a51-3f1f6c1f7a55' },
    { resourceVersion: newest(path) },
    { resourceVersion: oldest(path) },
  ]);
  const query: Record<string, string> = happens(0.15) ? { gracePeriodSeconds: oneOf(['0', '5']) } : {};
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions };
  return { method: 'DELETE', path, collection, query, ...(happens(0.5) && { body: options }) };
}
