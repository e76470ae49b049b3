import { selectedName } from './field-selector.ts';
import type { Identity } from './identity.ts';
import { qualifiedName, type ResourceKind } from './kinds.ts';
import type { ObjectStore } from './object-store.ts';
import { decide, type ResourceAttributes } from './rbac.ts';
import type { ApiRequest, ResourceTarget } from './request.ts';
import { ApiError, type StatusCause } from './status.ts';

/** Throws a 403 unless the caller has the right to the request, by the rules that also decide reviews. */
export function authorizeRequest(store: ObjectStore, identity: Identity, request: ApiRequest): void {
  const { target, verb, path } = request;
  const subject = { user: identity.username, groups: identity.groups };
  const { allowed } = decide(
    store,
    target
      ? { ...subject, resourceAttributes: attributesOf(request, target) }
      : { ...subject, nonResourceAttributes: { path, verb } },
  );
  if (!allowed) throw target ? forbidden(identity, attributesOf(request, target)) : pathForbidden(identity, path, verb);
}

/** A request for a namespace counts as one in that namespace. A list or watch of one name counts as one of that object. */
const attributesOf = ({ verb, query }: ApiRequest, { kind, namespace, name, subresource }: ResourceTarget) => ({
  verb,
  group: kind.group,
  version: kind.version,
  resource: kind.plural,
  subresource,
  namespace: kind.name === 'namespaces' ? name : namespace,
  name: name === '' ? nameIn(query) : name,
});

/** The name in `fieldSelector=metadata.name=x`; empty if one of the list options cannot be parsed. */
function nameIn(query: URLSearchParams): string {
  const isCount = (option: string): boolean => /^-?\d*$/.test(query.get(option) ?? '');
  if (!['limit', 'timeoutSeconds'].every(isCount)) return '';
  const name = selectedName(query.get('fieldSelector') ?? '');
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
}

/** The 403 for a caller without this right. */
export function forbidden({ username }: Identity, wanted: ResourceAttributes): ApiError {
  const { verb = '', group = '', resource: plural = '', subresource = '', namespace = '', name = '' } = wanted;
  const resource = subresource === '' ? plural : `${plural}/${subresource}`;
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const why = `User "${username}" cannot ${verb} resource "${resource}" in API group "${group}" ${scope}`;
  return refused({ group, plural }, name, why);
}

/** The 403 for an object, for this reason. */
export function refused(
  kind: Pick<ResourceKind, 'group' | 'plural'>,
  name: string,
  why: string,
  causes: readonly StatusCause[] = [],
): ApiError {
  const { group, plural } = kind;
  return new ApiError({
    code: 403,
    reason: 'Forbidden',
    message: `${qualifiedName(kind)}${name === '' ? '' : ` "${name}"`} is forbidden: ${why}`,
    details: {
      ...(name === '' ? {} : { name }),
      ...(group === '' ? {} : { group }),
      kind: plural,
      ...(causes.length > 0 && { causes }),
    },
  });
}

const pathForbidden = ({ username }: Identity, path: string, verb: string): ApiError =>
  new ApiError({
    code: 403,
    reason: 'Forbidden',
    message: `forbidden: User "${username}" cannot ${verb} path "${path}"`,
    details: {},
  });
