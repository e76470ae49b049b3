import type { Clock } from '../../src/runtime/clock.ts';
import type { Random } from '../../src/runtime/random.ts';
import { type Answer, objectAnswer, plain } from './answer.ts';
import { type DiscoveryVersion, discover, isServed } from './api/discovery.ts';
import { describeApi } from './api/openapi.ts';
import type { ServedKinds } from './api/served-kinds.ts';
import { indexOfKey } from './collection.ts';
import { deleteObject } from './deletion.ts';
import { Entry } from './entry.ts';
import type { Identity } from './identity.ts';
import { publishKeys } from './issuer-keys.ts';
import { type KubeObject, keyOf } from './kube-object.ts';
import { listText } from './list.ts';
import { checkListOptions, parseListOptions } from './list-options.ts';
import { negotiateForm } from './negotiation.ts';
import type { ObjectStore } from './object-store.ts';
import { patchObject } from './patches.ts';
import type { Decision, SubjectAccessReviewSpec } from './rbac.ts';
import { type ApiRequest, type ResourceTarget, targetKey } from './request.ts';
import { parseObject } from './request-body.ts';
import { review } from './reviews.ts';
import {
  type ApiError,
  deleted,
  methodNotAllowed,
  notFound,
  notSimulated,
  tooLargeResourceVersion,
  unknownResource,
} from './status.ts';
import { requestToken } from './token-requests.ts';
import type { TokenReviewParts } from './token-reviews.ts';
import type { WatchCache } from './watch-cache.ts';
import { createObject, updateObject } from './writes.ts';

/** Everything that is needed to answer a request that is not a watch. */
export interface RouteParts extends TokenReviewParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly decide: (spec: SubjectAccessReviewSpec) => Decision;
  readonly version: string;
  readonly kinds: ServedKinds;
  readonly watchCache: WatchCache;
  readonly aggregatedDiscovery: readonly DiscoveryVersion[];
}

/** The answer to an authorised request that is not a watch. Refusals are thrown as `ApiError`. */
export function answerRequest(request: ApiRequest, caller: Identity, parts: RouteParts): Answer {
  const { target } = request;
  if (!target)
    return (
      discover(request, parts) ??
      describeApi(request.path, parts) ??
      publishKeys(request, parts.signer) ??
      unknownPath(request.path, parts.kinds)
    );
  if (request.method === 'HEAD') throw methodNotAllowed(); // a real server authorizes it as GET, and then does not serve it
  if (parts.kinds.reviews.includes(target.kind)) {
    if (request.verb !== 'create') throw methodNotAllowed();
    return review(target.kind, parseObject(request, target.kind), { ...parts, caller });
  }
  if (target.kind.name === 'serviceaccounts' && target.subresource === 'token')
    return requestToken(request, target, parts);
  if (target.kind.name === 'pods' && STREAMS.has(target.subresource)) throw unstreamed(target, parts.store);
  checkSubresource(request, target);
  return answerResource(request, { target, caller }, parts);
}

/** Subresources that a real server serves for these kinds, and that are not served here. */
const NOT_SIMULATED: ReadonlySet<string> = new Set([
  ...['namespaces/finalize', 'deployments/scale'],
  ...['binding', 'ephemeralcontainers', 'eviction', 'proxy', 'resize'].map((name) => `pods/${name}`),
  'nodes/proxy',
]);

function checkSubresource({ verb }: ApiRequest, { kind, name, subresource }: ResourceTarget): void {
  if (verb === 'deletecollection') throw notSimulated('delete collections; delete the objects one by one');
  if (subresource === '' || (subresource === 'status' && kind.hasStatus)) return;
  if (subresource === 'status' && kind.isCustom) throw notFound(kind, name); // a real server answers as if the object did not exist
  const path = `${kind.name}/${subresource}`;
  throw NOT_SIMULATED.has(path) ? notSimulated(`serve ${path}`) : unknownResource();
}

/** Subresources that a kubelet serves. There is no kubelet here; a GET of `log` is answered in `logs/serve-log.ts`. */
const STREAMS: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward']);

const unstreamed = (target: ResourceTarget, store: ObjectStore): ApiError =>
  store.get('pods', targetKey(target)) ? unknownResource() : notFound(target.kind, target.name);

/** JSON for paths below a served API version, text elsewhere. */
function unknownPath(path: string, kinds: ServedKinds): Answer {
  if (isServed(path, kinds)) throw unknownResource();
  return plain('404 page not found\n', 404);
}

function answerResource(
  request: ApiRequest,
  { target, caller }: { target: ResourceTarget; caller: Identity },
  parts: RouteParts,
): Answer {
  const { store, clock, random, watchCache } = parts;
  const form = negotiateForm(request.headers.accept, { kind: target.kind, clock });
  const written = (object: KubeObject, code: number): Answer =>
    objectAnswer(form, new Entry(keyOf(object.metadata), 0, object), code);
  switch (request.verb) {
    case 'get':
      return objectAnswer(form, readOne(request, target, parts));
    case 'list': {
      const options = parseListOptions(request, target);
      checkListOptions(options);
      const collection = store.collection(target.kind.storedAs);
      const { namespace } = target;
      return { code: 200, text: listText(store, { collection, watchCache, namespace, options, form }) };
    }
    case 'create':
      return written(createObject(store, request, { target, caller, clock, random }), 201);
    case 'update': {
      const { object, created } = updateObject(store, request, { target, caller, clock });
      return written(object, created ? 201 : 200);
    }
    case 'patch': {
      const { object, created } = patchObject(store, request, { target, caller, clock });
      return written(object, created ? 201 : 200);
    }
    case 'delete':
      return answerDeletion(deleteObject(store, request, { target, clock }), target, written);
    default:
      throw methodNotAllowed();
  }
}

function readOne({ query }: ApiRequest, target: ResourceTarget, { store, watchCache }: RouteParts): Entry {
  const wanted = query.get('resourceVersion') ?? '';
  if (Number(wanted) > store.revision) throw tooLargeResourceVersion(wanted, store.resourceVersion);
  const collection = store.collection(target.kind.storedAs);
  const key = targetKey(target);
  const entry = wanted === '0' ? entryAt(collection.at(watchCache.revision()), key) : collection.get(key);
  if (!entry) throw notFound(target.kind, target.name);
  return entry;
}

function entryAt(entries: readonly Entry[], key: string): Entry | undefined {
  const found = entries[indexOfKey(entries, key)];
  return found?.key === key ? found : undefined;
}

/** The kinds whose deletion is answered with the object. */
const ANSWERED_WHOLE: ReadonlySet<string> = new Set(['pods', 'namespaces', 'serviceaccounts']);

/** Answers with the object if it is only marked as deleted, and always for some kinds; otherwise with a Status. */
function answerDeletion(
  { object, isGone }: ReturnType<typeof deleteObject>,
  { kind, name }: ResourceTarget,
  written: (object: KubeObject, code: number) => Answer,
): Answer {
  if (!isGone || ANSWERED_WHOLE.has(kind.name)) return written(object, 200);
  return { code: 200, text: `${deleted(kind, name, object.metadata.uid)}\n` };
}
