import type { KubernetesObject } from '../../kubernetes/object.ts';
import { type FilterReader, notOneOf } from '../../resources/query/filter.ts';
import { type KindWords, PLAIN_WORDS } from './kind-words.ts';
import { equals, textIn } from './own-value.ts';

/** `v1.PersistentVolumePhase`, and `v1.PersistentVolumeClaimPhase`. */
const VOLUME_PHASES = ['Pending', 'Available', 'Bound', 'Released', 'Failed'];
const CLAIM_PHASES = ['Pending', 'Bound', 'Lost'];

const classOf = ({ spec }: KubernetesObject): string | undefined => textIn(spec, 'storageClassName');

/** PersistentVolumes. An empty `storageClassName` matches none. */
export const VOLUME_WORDS: KindWords = wordsOfVolumes(VOLUME_PHASES, (volume) => classOf(volume) || undefined);

/** PersistentVolumeClaims. An empty `storageClassName` matches those that ask for no class (`""`), not those that leave it open. */
export const CLAIM_WORDS: KindWords = wordsOfVolumes(CLAIM_PHASES, classOf);

function wordsOfVolumes(
  phases: readonly string[],
  project: (object: KubernetesObject) => string | undefined,
): KindWords {
  return {
    ...PLAIN_WORDS,
    filters: new Map<string, FilterReader>([
      ['status', phaseFilter(phases)],
      ['storageClassName', equals<string | undefined>((storageClass) => storageClass)],
    ]),
    statusOf: ({ status }) => textIn(status, 'phase') ?? '',
    project,
    isSameOwn: Object.is,
  };
}

/** Phases are compared without regard to case, as in KubeSphere 3.4. */
function phaseFilter(phases: readonly string[]): FilterReader {
  return (text, name) => {
    const phase = phases.find((one) => one.toLowerCase() === text.toLowerCase());
    return phase === undefined ? notOneOf(name, text, phases) : ({ status }) => status === phase;
  };
}
