import { asArray, asObject } from '../../runtime/text/json-value.ts';
import type { ApiResponse } from '../client/api-client.ts';
import { type GroupVersion, isGroupName, isVersionName, toClusterKinds } from './group-version.ts';

/** Where the plain document of one group version is. */
interface DocumentPath extends Pick<GroupVersion, 'group' | 'version'> {
  readonly path: string;
}

/** A plain document that was read, or `undefined` if it did not arrive in time. */
type ReadDocument = (path: string) => Promise<ApiResponse | undefined>;

/** At most this many documents are requested at once. Old API servers allow each client 200 requests in flight. */
const MAX_IN_FLIGHT = 8;

/** The documents that an `APIVersions` (of `/api`) or an `APIGroupList` (of `/apis`) names; `undefined` for any other body. */
export function documentsNamedBy(body: unknown): readonly DocumentPath[] | undefined {
  const { kind, versions, groups } = asObject(body);
  if (kind === 'APIVersions')
    return asArray(versions)
      .filter(isVersionName)
      .map((version) => ({ group: '', version, path: `/api/${version}` }));
  return kind === 'APIGroupList' ? asArray(groups).flatMap(documentsOfGroup) : undefined;
}

/** The versions of an `APIGroup`, the preferred one first, then as they are listed. */
function documentsOfGroup(value: unknown): readonly DocumentPath[] {
  const { name: group, versions, preferredVersion } = asObject(value);
  if (!isGroupName(group) || group === '') return [];
  const listed = [preferredVersion, ...asArray(versions)].map((entry) => asObject(entry)['version']);
  return [...new Set(listed.filter(isVersionName))].map((version) => ({
    group,
    version,
    path: `/apis/${group}/${version}`,
  }));
}

/**
 * Reads the document of each group version. A document that does not arrive in time, or is answered with an error other than 404,
 * belongs to an API that is away. Rejects if `read` does.
 */
export async function readPlain(documents: readonly DocumentPath[], read: ReadDocument): Promise<GroupVersion[]> {
  const found = new Array<readonly GroupVersion[]>(documents.length).fill([]);
  const waiting = documents.entries();
  const readOn = async (): Promise<void> => {
    for (const [index, document] of waiting) found[index] = toGroupVersions(document, await read(document.path));
  };
  await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, readOn));
  return found.flat();
}

/** Returns nothing for a group version that has gone since the list was read. */
function toGroupVersions({ group, version }: DocumentPath, response: ApiResponse | undefined): readonly GroupVersion[] {
  if (response?.status === 404) return [];
  const { kind: documentKind, resources } = asObject(response?.body);
  if (response?.status !== 200 || documentKind !== 'APIResourceList')
    return [{ group, version, kinds: [], isAway: true }];
  const kinds = asArray(resources).flatMap((entry) => {
    const { name, kind, singularName, shortNames, namespaced, verbs } = asObject(entry);
    const names = { resource: name, kind, singularName, shortNames };
    return toClusterKinds({ group, version }, { ...names, namespaced: namespaced === true, verbs });
  });
  return [{ group, version, kinds, isAway: false }];
}
