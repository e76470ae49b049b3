import type { KindConversion } from '../kinds.ts';

/** The members of an event that have another name in `events.k8s.io/v1` than in the core group, by the latter. */
const RENAMED = {
  involvedObject: 'regarding',
  message: 'note',
  reportingComponent: 'reportingController',
  source: 'deprecatedSource',
  firstTimestamp: 'deprecatedFirstTimestamp',
  lastTimestamp: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
} as const;
const BACK = Object.fromEntries(Object.entries(RENAMED).map(([stored, shown]) => [shown, stored]));

type Members = Readonly<Record<string, unknown>>;

const renamed = <Kept extends Members>(object: Kept, names: Readonly<Record<string, string>>): Kept =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [names[name] ?? name, value])) as Kept;

/** Events are stored as the core group has them. */
export const EVENT_CONVERSION: KindConversion = {
  toStored: (event) => renamed(event, BACK),
  fromStored: (event) => renamed(event, RENAMED),
};

const INVOLVED = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
const COMMON = ['reason', 'type'];

const absent = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, '']));

/** The field selectors of core events. */
export const CORE_EVENT_FIELDS = absent([
  ...INVOLVED.map((name) => `involvedObject.${name}`),
  ...COMMON,
  'reportingComponent',
  'source',
]);

/** The field selectors of `events.k8s.io/v1`, and where the stored event has what they ask for. */
export const EVENT_FIELDS = absent([...INVOLVED.map((name) => `regarding.${name}`), ...COMMON, 'reportingController']);
export const EVENT_FIELD_PATHS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(INVOLVED.map((name) => [`regarding.${name}`, `involvedObject.${name}`])),
  reportingController: 'reportingComponent',
};
