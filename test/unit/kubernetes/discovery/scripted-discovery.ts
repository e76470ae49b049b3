import type { ApiRequest, ApiResponse } from '../../../../src/kubernetes/client/api-client.ts';
import { HttpDiscovery } from '../../../../src/kubernetes/discovery/discovery-reader.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** What a path answers: a status, a body, or nothing ever. */
type Answer = { readonly status?: number; readonly etag?: string; readonly body?: unknown } | 'silence' | Error;

/** A discovery reader whose API server is a table of paths, which a test may change. All other paths are 404. */
export function scriptedDiscovery(paths: Record<string, Answer>) {
  const clock = new FakeClock();
  const requests: ApiRequest[] = [];
  let inFlight = 0;
  const seen = { mostInFlight: 0 };
  const json = async (request: ApiRequest, signal: AbortSignal): Promise<ApiResponse> => {
    requests.push(request);
    inFlight++;
    seen.mostInFlight = Math.max(seen.mostInFlight, inFlight);
    try {
      await clock.sleep(1);
      const answer = paths[request.path] ?? { status: 404 };
      if (answer instanceof Error) throw answer;
      if (answer === 'silence') return await silence(signal);
      const { status = 200, etag, body } = answer;
      const isKnown = etag !== undefined && request.ifNoneMatch === etag;
      return { status: isKnown ? 304 : status, headers: { etag }, body: isKnown ? undefined : body, bytes: 0 };
    } finally {
      inFlight--;
    }
  };
  const discovery = new HttpDiscovery({ client: { json }, clock, closed: new AbortController().signal });
  const ending = new AbortController();
  /** Reads once, while as much time passes as the read needs, at most `ms`. */
  const read = async (ms = 1_000) => {
    const reading = discovery.read(ending.signal);
    reading.catch(() => undefined);
    await clock.advance(ms);
    return reading;
  };
  return { paths, requests, seen, clock, read, discovery };
}

const silence = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });

const CORE = { resource: 'pods', scope: 'Namespaced', kind: 'Pod', shortNames: ['po'] };

interface Described {
  readonly resource: string;
  readonly kind: string;
  readonly scope?: string;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  /** Default: the kind in lower case. */
  readonly singular?: string;
}

const ALL_VERBS = ['create', 'delete', 'get', 'list', 'watch'];

/** An entry of aggregated discovery (`apidiscovery.k8s.io/v2`, APIResourceDiscovery). */
const aggregatedResource = ({
  resource,
  kind,
  scope = 'Namespaced',
  verbs = ALL_VERBS,
  shortNames,
  singular,
}: Described) => ({
  ...{
    resource,
    responseKind: { group: '', version: '', kind },
    scope,
    singularResource: singular ?? kind.toLowerCase(),
    verbs,
  },
  ...(shortNames && { shortNames }),
  subresources: [{ subresource: 'status', responseKind: { group: '', version: '', kind }, verbs: ['get'] }],
});

type Groups = Readonly<Record<string, Readonly<Record<string, readonly Described[] | 'Stale'>>>>;

export const aggregatedList = (groups: Groups): object => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  items: Object.entries(groups).map(([name, versions]) => ({
    metadata: name === '' ? {} : { name },
    versions: Object.entries(versions).map(([version, resources]) =>
      resources === 'Stale'
        ? { version, freshness: 'Stale' }
        : { version, freshness: 'Current', resources: resources.map(aggregatedResource) },
    ),
  })),
});

/** The answers of an API server with aggregated discovery and these groups beside the core group. */
export const aggregated = (groups: Groups, tag = '1'): Record<string, Answer> => ({
  '/api': { etag: `"core-${tag}"`, body: aggregatedList({ '': { v1: [CORE] } }) },
  '/apis': { etag: `"apis-${tag}"`, body: aggregatedList(groups) },
});

/** The plain documents of an API server with these groups beside the core group. The first version is the preferred one. */
export function plain(groups: Groups): Record<string, Answer> {
  const list = (resources: readonly Described[]): Answer => ({
    body: { kind: 'APIResourceList', groupVersion: 'x', resources: resources.flatMap(plainResources) },
  });
  const documents = Object.entries(groups).flatMap(([group, versions]) =>
    Object.entries(versions).map(
      ([version, resources]) =>
        [`/apis/${group}/${version}`, resources === 'Stale' ? { status: 503 } : list(resources)] as const,
    ),
  );
  const listed = Object.entries(groups).map(([name, versions]) => ({
    name,
    versions: Object.keys(versions)
      .sort()
      .map((version) => ({ version })),
    preferredVersion: { version: Object.keys(versions)[0] },
  }));
  return {
    '/api': { body: { kind: 'APIVersions', versions: ['v1'] } },
    '/apis': { body: { kind: 'APIGroupList', groups: listed } },
    '/api/v1': list([CORE]),
    ...Object.fromEntries(documents),
  };
}

const plainResources = ({
  resource,
  kind,
  scope = 'Namespaced',
  verbs = ALL_VERBS,
  shortNames,
  singular,
}: Described) => [
  {
    ...{
      name: resource,
      kind,
      singularName: singular ?? kind.toLowerCase(),
      namespaced: scope === 'Namespaced',
      verbs,
    },
    ...(shortNames && { shortNames }),
  },
  { name: `${resource}/status`, kind, singularName: '', namespaced: true, verbs: ['get'] },
];
