import { type Answer, json, plain } from '../answer.ts';
import { apiVersionOf, type ResourceKind } from '../kinds.ts';
import { REVIEWS } from './built-in-kinds.ts';
import type { ServedKinds } from './served-kinds.ts';

interface DescribedParts {
  readonly version: string;
  readonly kinds: ServedKinds;
}

/**
 * The OpenAPI documents of the API: its paths, with the kind of each. They lack the fields of objects, by which kubectl would
 * validate.
 */
export function describeApi(path: string, { version, kinds }: DescribedParts): Answer | undefined {
  const info = { title: 'Kubernetes', version: /\d+\.\d+/.exec(version)?.[0] };
  if (path === '/openapi/v2') return json({ swagger: '2.0', info, paths: pathsOf(allOf(kinds)), definitions: {} });
  if (path === '/openapi/v3') return plain(JSON.stringify({ paths: index(kinds) })); // a real server gives no better type
  const group = path.startsWith('/openapi/v3/') ? path.slice('/openapi/v3/'.length) : undefined;
  const described = allOf(kinds).filter((kind) => rootOf(kind) === group);
  if (described.length === 0) return undefined;
  return json({ openapi: '3.0.0', info, paths: pathsOf(described), components: {} });
}

const allOf = ({ stored, reviews }: ServedKinds): readonly ResourceKind[] => [...stored, ...reviews];

/** `api/v1` or `apis/apps/v1`. */
const rootOf = (kind: ResourceKind): string => `${kind.group === '' ? 'api' : 'apis'}/${apiVersionOf(kind)}`;

/** The list of the documents. A real server puts the hash of each document into its URL, so that clients can cache it. */
function index(kinds: ServedKinds): object {
  const roots = new Set(allOf(kinds).map(rootOf));
  return Object.fromEntries([...roots].map((root) => [root, { serverRelativeURL: `/openapi/v3/${root}?hash=0` }]));
}

function pathsOf(kinds: readonly ResourceKind[]): object {
  return Object.fromEntries(
    kinds.flatMap((kind): [string, object][] => {
      const { group, version, plural } = kind;
      const collection = `/${rootOf(kind)}${kind.namespaced ? '/namespaces/{namespace}' : ''}/${plural}`;
      const operation = { 'x-kubernetes-group-version-kind': { group, kind: kind.kind, version } };
      if (REVIEWS.includes(kind)) return [[collection, { post: operation }]];
      return [
        [collection, { get: operation, post: operation }],
        [`${collection}/{name}`, { get: operation, put: operation, patch: operation, delete: operation }],
      ];
    }),
  );
}
