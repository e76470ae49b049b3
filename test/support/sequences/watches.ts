import { collectionOf, type SequenceKind } from './kinds.ts';
import { newest, oldest } from './references.ts';
import { fieldSelector, labelSelector, labelsOf, newObject, type Setting } from './setting.ts';
import type { Json, Watch } from './steps.ts';

/** The label of the object that a watch waits for. */
export const LAST = 'last';

/** A watch of one of the collections of a sequence, with selectors that also match the last object. */
export function watchOf(setting: Setting, steps: number): Watch {
  const { chance, id, namespace, kinds } = setting;
  const kind = chance.oneOf(kinds);
  const path = collectionOf(kind, namespace);
  const name = `${id}-z`;
  const selectors = selectorsOf(setting, kind);
  const last = newObject(setting, kind, name);
  const labels = { ...labelsOf(id), tier: 'one', [LAST]: 'true' };
  const body: Json = { ...last, metadata: { name, labels } };
  const before = chance.below(steps + 1);
  return { path, query: { ...selectors, ...versionOf(setting, path) }, before, last: body };
}

/** Selectors that match the last object. */
function selectorsOf({ chance, id }: Setting, kind: SequenceKind): Record<string, string> {
  const labels = kind.namespaced && chance.happens(0.3) ? '' : labelSelector(chance, id);
  const isFit = !labels.includes('!tier') && !labels.includes('notin');
  const fields = chance.happens(0.3) ? fieldSelector(chance, id, kind) : '';
  return {
    labelSelector: isFit ? labels : `sequence=${id}`,
    ...(/^metadata\.name!=/.test(fields) && { fieldSelector: fields }),
  };
}

function versionOf({ chance }: Setting, path: string): Record<string, string> {
  if (chance.happens(0.25))
    return {
      resourceVersion: newest(path),
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
    };
  return { resourceVersion: chance.happens(0.5) ? newest(path) : oldest(path) };
}
