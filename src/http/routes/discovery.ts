import type { Representation } from '../../resources/bytes/representation.ts';
import { serviceUnavailable } from '../../status-error.ts';
import type { AnswerWriter } from '../answer/answer.ts';
import { toJsonBytes, toRepresentation } from '../answer/document.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import type { Exchange, Handler, ResourceKind, Route } from '../exchange.ts';
import { toRequestInfo } from '../request-info.ts';
import { type ApiResourceList, kindDiscovery, type ListableKinds } from './kind-discovery.ts';

/** A served resource: its API group and version, its kind and its verbs. */
interface ServedResource {
  readonly group: string;
  readonly version: string;
  readonly name: string;
  readonly kind: ResourceKind;
  readonly verbs: readonly string[];
}

/** The group version in which every kind of the cluster is served, and those kinds. */
interface AllKinds {
  readonly group: string;
  readonly version: string;
  readonly listable: ListableKinds;
}

/**
 * The discovery documents of /kapis, made from the routes themselves, so that they name only what is served. With `all`, the document of
 * that group version also names the kinds that the cluster has at the time of the request.
 */
export function discoveryRoutes(served: readonly Route[], writer: AnswerWriter, all?: AllKinds): Route[] {
  const resources = servedResources(served);
  const groups = [...new Set(resources.map((resource) => resource.group))].sort();
  const route = (template: string, document: object): Route => {
    const representation = toRepresentation(toJsonBytes(document));
    return documentRoute(template, (exchange) => sendDocument(writer, exchange, representation));
  };
  const listRoute = (group: string, version: string): Route => {
    const template = `/kapis/${group}/${version}`;
    const own = toResourceList(group, version, resources);
    if (all?.group !== group || all.version !== version) return route(template, own);
    const current = kindDiscovery(own, all.listable);
    return documentRoute(template, async (exchange) => sendDocument(writer, exchange, await current()));
  };
  const list = { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map((group) => toGroup(group, resources)) };
  return [
    route('/kapis', list),
    ...groups.map((group) =>
      route(`/kapis/${group}`, { kind: 'APIGroup', apiVersion: 'v1', ...toGroup(group, resources) }),
    ),
    ...groups.flatMap((group) => versionsOf(group, resources).map((version) => listRoute(group, version))),
  ];
}

function documentRoute(template: string, handler: Handler): Route {
  const methods = { GET: handler, HEAD: handler };
  return { template, access: 'signed-in', admission: 'other', produces: 'json', methods };
}

function sendDocument(writer: AnswerWriter, exchange: Exchange, representation: Representation): void | Promise<void> {
  const headers = { contentType: 'application/json', cacheControl: 'private, no-cache' };
  return sendRepresentation(writer, exchange, { ...headers, representation });
}

function servedResources(routes: readonly Route[]): ServedResource[] {
  return routes.flatMap(({ template, kind }) => {
    if (!kind) return [];
    const [, group = '', version = '', name = ''] = template.split('/').slice(1);
    const own = routes.filter((route) => route.template === template || route.template.startsWith(`${template}/`));
    const verbs = own.flatMap((route) => [
      ...Object.keys(route.methods).flatMap((method) => verbOf(method, route.template)),
      ...(route.watch ? ['watch'] : []),
    ]);
    return [{ group, version, name, kind, verbs: [...new Set(verbs)].sort() }];
  });
}

function verbOf(method: string, template: string): string[] {
  const info = toRequestInfo(method, template.split('/').slice(1), '');
  return 'fault' in info ? [] : [info.verb];
}

const versionsOf = (group: string, resources: readonly ServedResource[]): string[] => [
  ...new Set(resources.filter((resource) => resource.group === group).map((resource) => resource.version)),
];

/** `metav1.APIGroup` without `kind` and `apiVersion`, as it appears in a list. */
function toGroup(name: string, resources: readonly ServedResource[]): object {
  const versions = versionsOf(name, resources).map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0] };
}

function toResourceList(group: string, version: string, resources: readonly ServedResource[]): ApiResourceList {
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

/** The build, and the platform that it runs on. */
export interface ReleaseInfo {
  /** Semantic version without `v`. */
  readonly version: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  /** RFC 3339. */
  readonly buildDate: string;
  readonly nodeVersion: string;
  /** For example `linux/amd64`. */
  readonly platform: string;
}

export interface VersionParts {
  readonly release: ReleaseInfo;
  /** The complete answer of the cluster's own `/version`; `undefined` until it is known. It is the same object until the version changes. */
  clusterVersion(): Readonly<Record<string, unknown>> | undefined;
  /** Whether the paths of the cluster are served. */
  readonly gatewayIsOpen: boolean;
}

/**
 * The API level of this server. Clients of KubeSphere 3.4 compare the first two numbers of `gitVersion` with 3.2 to
 * choose their paths, so our own release follows as build metadata.
 */
const API_LEVEL = { gitVersion: 'v3.4.1', gitMajor: '3', gitMinor: '4' };

/**
 * The routes of the two versions. At `/version`, clients of Kubernetes expect the version of the API server that they call. So with
 * the gateway we answer with the cluster's version and add our release; until we know the cluster's version, the answer is 503.
 */
export function versionRoutes(parts: VersionParts, writer: AnswerWriter): Route[] {
  const own: Shown = (cluster) => toVersion(parts.release, cluster);
  return [
    versionRoute('/version', parts.gatewayIsOpen ? (cluster) => ofTheCluster(parts.release, cluster) : own, {
      parts,
      writer,
    }),
    versionRoute('/kapis/version', own, { parts, writer }),
  ];
}

type ClusterVersion = ReturnType<VersionParts['clusterVersion']>;
type Shown = (cluster: ClusterVersion) => object;

function versionRoute(
  template: string,
  toShown: Shown,
  { parts, writer }: { readonly parts: VersionParts; readonly writer: AnswerWriter },
): Route {
  let shown: { readonly of: ClusterVersion; readonly representation: Representation } | undefined;
  const handler: Handler = (exchange) => {
    const cluster = parts.clusterVersion();
    if (!shown || shown.of !== cluster)
      shown = { of: cluster, representation: toRepresentation(toJsonBytes(toShown(cluster))) };
    const { representation } = shown;
    return sendRepresentation(writer, exchange, {
      contentType: 'application/json',
      cacheControl: 'no-cache',
      representation,
    });
  };
  return {
    template,
    access: 'public',
    admission: 'other',
    produces: 'json',
    methods: { GET: handler, HEAD: handler },
  };
}

function ofTheCluster(release: ReleaseInfo, cluster: ClusterVersion): object {
  if (!cluster) throw serviceUnavailable('the version of the cluster is not known yet', 1);
  return { ...cluster, gatehouse: `v${release.version}` };
}

function toVersion(release: ReleaseInfo, cluster: ClusterVersion): object {
  return {
    ...API_LEVEL,
    gitVersion: `${API_LEVEL.gitVersion}+gatehouse.${release.version}`,
    gatehouse: `v${release.version}`,
    gitCommit: release.gitCommit,
    gitTreeState: release.gitTreeState,
    buildDate: release.buildDate,
    nodeVersion: release.nodeVersion,
    platform: release.platform,
    ...(cluster ? { kubernetes: cluster } : {}),
  };
}

/** The OpenAPI descriptions, which are files of the project. */
export interface Descriptions {
  /** The text of `api/platform.openapi.yaml`. */
  readonly platformYaml: string;
  /** The text of `api/crd.openapi.yaml`. */
  readonly crdYaml: string;
  /** Reads YAML into plain data. */
  parseYaml(text: string): unknown;
}

export interface DescriptionParts {
  readonly platform: string;
  readonly version: string;
  readonly descriptions: Descriptions;
}

/**
 * `/openapi` and the documents that it lists, which describe this server and its custom resources. They have the group names of the
 * configured platform and the running release.
 */
export function descriptionRoutes(parts: DescriptionParts, writer: AnswerWriter): Route[] {
  // Made on first use, because parsing 75 KB of YAML takes 80 ms, which would slow down the start.
  const serve = (make: () => Buffer, contentType: string): Handler => {
    let representation: Representation | undefined;
    return (exchange) => {
      representation ??= toRepresentation(make());
      return sendRepresentation(writer, exchange, { contentType, cacheControl: 'no-cache', representation });
    };
  };
  const { platformYaml, crdYaml, parseYaml } = parts.descriptions;
  const documentsOf = (name: string, text: string): readonly [string, Handler][] => [
    [`/openapi/${name}.json`, serve(() => toJsonBytes(parseYaml(adapt(text, parts))), 'application/json')],
    [`/openapi/${name}.yaml`, serve(() => Buffer.from(adapt(text, parts)), 'application/yaml')],
  ];
  const documents = [...documentsOf('platform', platformYaml), ...documentsOf('crd', crdYaml)];
  const paths = documents.map(([path]) => path);
  const index: [string, Handler] = ['/openapi', serve(() => toJsonBytes({ paths }), 'application/json')];
  return [index, ...documents].map(([template, handler]) => ({
    template,
    access: 'public',
    admission: 'other',
    produces: 'any',
    methods: { GET: handler, HEAD: handler },
  }));
}

/**
 * Replaces the platform name: the files are written for the platform `gatehouse`, whose name is in groups, annotation prefixes and
 * the realm.
 */
function adapt(text: string, { platform, version }: DescriptionParts): string {
  return text
    .replaceAll(/\bgatehouse\.io\b/g, `${platform}.io`)
    .replaceAll('realm="gatehouse"', `realm="${platform}"`)
    .replace(/^ {2}version: .*$/m, `  version: ${version}`);
}
