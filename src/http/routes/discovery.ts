import type { AnswerWriter } from '../answer/answer.ts';
import { toJsonBytes, toRepresentation } from '../answer/document.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import type { Handler, ResourceKind, Route } from '../exchange.ts';
import { toRequestInfo } from '../request-info.ts';

/** One served resource: its place, its kind, and what can be done with it. */
interface ServedResource {
  readonly group: string;
  readonly version: string;
  readonly name: string;
  readonly kind: ResourceKind;
  readonly verbs: readonly string[];
}

/** The discovery documents of /kapis, made from the routes themselves: they can name nothing that is not served. */
export function discoveryRoutes(served: readonly Route[], writer: AnswerWriter): Route[] {
  const resources = servedResources(served);
  const groups = [...new Set(resources.map((resource) => resource.group))].sort();
  const route = (template: string, document: object): Route => {
    const representation = toRepresentation(toJsonBytes(document));
    const headers = { contentType: 'application/json', cacheControl: 'private, no-cache' };
    const handler: Handler = (exchange) => sendRepresentation(writer, exchange, { ...headers, representation });
    const methods = { GET: handler, HEAD: handler };
    return { template, access: 'signed-in', admission: 'other', produces: 'json', methods };
  };
  const list = { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map((group) => toGroup(group, resources)) };
  return [
    route('/kapis', list),
    ...groups.map((group) =>
      route(`/kapis/${group}`, { kind: 'APIGroup', apiVersion: 'v1', ...toGroup(group, resources) }),
    ),
    ...groups.flatMap((group) =>
      versionsOf(group, resources).map((version) =>
        route(`/kapis/${group}/${version}`, toResourceList(group, version, resources)),
      ),
    ),
  ];
}

function servedResources(routes: readonly Route[]): ServedResource[] {
  return routes.flatMap(({ template, kind }) => {
    if (!kind) return [];
    const [, group = '', version = '', name = ''] = template.split('/').slice(1);
    const own = routes.filter((route) => route.template === template || route.template.startsWith(`${template}/`));
    const verbs = own.flatMap((route) => [
      ...Object.keys(route.methods).map((method) => toRequestInfo(method, route.template.split('/').slice(1), '').verb),
      ...(route.watch ? ['watch'] : []),
    ]);
    return [{ group, version, name, kind, verbs: [...new Set(verbs)].sort() }];
  });
}

const versionsOf = (group: string, resources: readonly ServedResource[]): string[] => [
  ...new Set(resources.filter((resource) => resource.group === group).map((resource) => resource.version)),
];

/** `metav1.APIGroup` without its type, as it stands inside a list. */
function toGroup(name: string, resources: readonly ServedResource[]): object {
  const versions = versionsOf(name, resources).map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0] };
}

/** `metav1.APIResourceList`. */
function toResourceList(group: string, version: string, resources: readonly ServedResource[]): object {
  const own = resources.filter((resource) => resource.group === group && resource.version === version);
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: `${group}/${version}`,
    resources: own.map(({ name, kind, verbs }) => ({
      name,
      singularName: kind.singularName,
      namespaced: kind.namespaced,
      kind: kind.kind,
      verbs,
      shortNames: kind.shortNames,
    })),
  };
}
