import type { KubernetesObject } from '../../kubernetes/object.ts';
import { type FilterReader, oneOf, statusFilter } from '../../resources/query/filter.ts';
import { asObject } from '../../runtime/text/json-value.ts';
import { type KindWords, PLAIN_WORDS } from './kind-words.ts';
import { equals, isSameOwnValue, textIn } from './own-value.ts';

interface SnapshotOwn {
  readonly snapshotClass: string | undefined;
  readonly claim: string | undefined;
}

const SNAPSHOT_STATES = ['creating', 'ready', 'deleting'] as const;

export const VOLUME_SNAPSHOT_WORDS: KindWords = {
  ...PLAIN_WORDS,
  filters: new Map<string, FilterReader>([
    ['status', statusFilter(SNAPSHOT_STATES)],
    ['volumeSnapshotClassName', equals<SnapshotOwn>(({ snapshotClass }) => snapshotClass)],
    ['persistentVolumeClaimName', equals<SnapshotOwn>(({ claim }) => claim)],
  ]),
  statusOf: snapshotState,
  project: ({ spec }): SnapshotOwn => ({
    snapshotClass: textIn(spec, 'volumeSnapshotClassName'),
    claim: textIn(asObject(spec)['source'], 'persistentVolumeClaimName'),
  }),
  isSameOwn: isSameOwnValue,
};

function snapshotState({ metadata, status }: KubernetesObject): (typeof SNAPSHOT_STATES)[number] {
  if (typeof metadata['deletionTimestamp'] === 'string') return 'deleting';
  return asObject(status)['readyToUse'] === true ? 'ready' : 'creating';
}

interface SnapshotClassOwn {
  readonly deletionPolicy: string | undefined;
  readonly driver: string | undefined;
}

export const VOLUME_SNAPSHOT_CLASS_WORDS: KindWords = {
  ...PLAIN_WORDS,
  filters: new Map<string, FilterReader>([
    ['deletionPolicy', oneOf(['Delete', 'Retain'], ({ own }) => (own as SnapshotClassOwn).deletionPolicy)],
    ['driver', equals<SnapshotClassOwn>(({ driver }) => driver)],
  ]),
  project: (snapshotClass): SnapshotClassOwn => ({
    deletionPolicy: textIn(snapshotClass, 'deletionPolicy'),
    driver: textIn(snapshotClass, 'driver'),
  }),
  isSameOwn: isSameOwnValue,
};

/** The driver of a class, if it names one. */
export function driversOf({ own }: { readonly own: unknown }): readonly string[] {
  const { driver } = own as SnapshotClassOwn;
  return driver ? [driver] : [];
}

interface SnapshotContentOwn {
  readonly snapshotClass: string | undefined;
  readonly snapshot: string | undefined;
  readonly namespace: string | undefined;
  /** `undefined` if the storage has not said it yet: neither true nor false. */
  readonly readyToUse: string | undefined;
}

export const VOLUME_SNAPSHOT_CONTENT_WORDS: KindWords = {
  ...PLAIN_WORDS,
  filters: new Map<string, FilterReader>([
    ['volumeSnapshotClassName', equals<SnapshotContentOwn>(({ snapshotClass }) => snapshotClass)],
    ['volumeSnapshotName', equals<SnapshotContentOwn>(({ snapshot }) => snapshot)],
    ['volumeSnapshotNamespace', equals<SnapshotContentOwn>(({ namespace }) => namespace)],
    ['readyToUse', oneOf(['true', 'false'], ({ own }) => (own as SnapshotContentOwn).readyToUse)],
  ]),
  project({ spec, status }): SnapshotContentOwn {
    const { volumeSnapshotRef } = asObject(spec);
    const { readyToUse } = asObject(status);
    return {
      snapshotClass: textIn(spec, 'volumeSnapshotClassName'),
      snapshot: textIn(volumeSnapshotRef, 'name'),
      namespace: textIn(volumeSnapshotRef, 'namespace'),
      readyToUse: typeof readyToUse === 'boolean' ? String(readyToUse) : undefined,
    };
  },
  isSameOwn: isSameOwnValue,
};
