import type { Identity } from './identity.ts';
import { qualifiedName } from './kinds.ts';
import type { ObjectStore } from './object-store.ts';
import { decide } from './rbac.ts';
import type { ApiRequest, ResourceTarget } from './request.ts';
import { ApiError } from './status.ts';

/** The caller's own right to the request, by the same rules that reviews are answered with; 403 without it. */
export function authorizeRequest(store: ObjectStore, identity: Identity, request: ApiRequest): void {
  const { target, verb, path } = request;
  const subject = { user: identity.username, groups: identity.groups };
  const { allowed } = decide(
    store,
    target
      ? { ...subject, resourceAttributes: attributesOf(target, verb) }
      : { ...subject, nonResourceAttributes: { path, verb } },
  );
  if (!allowed) throw target ? resourceForbidden(identity, target, verb) : pathForbidden(identity, path, verb);
}

const attributesOf = ({ kind, namespace, name, subresource }: ResourceTarget, verb: string) => ({
  verb,
  group: kind.group,
  version: kind.version,
  resource: kind.plural,
  subresource,
  namespace,
  name,
});

function resourceForbidden({ username }: Identity, target: ResourceTarget, verb: string): ApiError {
  const { kind, namespace, name, subresource } = target;
  const resource = subresource === '' ? kind.plural : `${kind.plural}/${subresource}`;
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const subject = name === '' ? `${qualifiedName(kind)} is` : `${qualifiedName(kind)} "${name}" is`;
  return new ApiError({
    code: 403,
    reason: 'Forbidden',
    message: `${subject} forbidden: User "${username}" cannot ${verb} resource "${resource}" in API group "${kind.group}" ${scope}`,
    details: {
      ...(name === '' ? {} : { name }),
      ...(kind.group === '' ? {} : { group: kind.group }),
      kind: kind.plural,
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
