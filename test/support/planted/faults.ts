import type { Fault, Json } from './faulty-proxy.ts';

/** A server that does everything right. */
const NONE: Fault = {};

/** Mistakes of a simulated API server that its users would not notice at once. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  nothing: NONE,
  'a conflict is answered 400': {
    answer: ({ status, body }) => (status === 409 ? { status: 400, body: { ...body, code: 400 } } : { status, body }),
  },
  'a page does not count what remains': {
    answer: ({ status, body }) => ({ status, body: withoutRemainingItemCount(body) }),
  },
  'a bookmark does not say that the state is complete': {
    event: (event) => (event.type === 'BOOKMARK' ? withoutAnnotations(event) : event),
  },
  'an expired version has another reason': {
    answer: ({ status, body }) => ({ status, body: status === 410 ? { ...body, reason: 'Gone' } : body }),
    event: (event) => (event.object?.code === 410 ? { ...event, object: { ...event.object, reason: 'Gone' } } : event),
  },
  'a deletion carries the version before it': {
    event: (event) => (event.type === 'DELETED' ? olderVersion(event) : event),
  },
  'everybody may do everything': {
    answer: ({ status, body }) => ({
      status,
      body: body.kind === 'SubjectAccessReview' ? { ...body, status: { allowed: true } } : body,
    }),
  },
  'a dry run is stored': {
    request: ({ url, headers }) => ({ url: url.replace('dryRun=All', ''), headers }),
  },
  'an impersonated user has no groups': {
    request: ({ url, headers: { 'impersonate-group': _, ...headers } }) => ({ url, headers }),
  },
};

function withoutRemainingItemCount(body: Json): Json {
  if (body.metadata?.remainingItemCount === undefined) return body;
  const { remainingItemCount: _, ...metadata } = body.metadata;
  return { ...body, metadata };
}

function olderVersion({ type, object }: Json): Json {
  const resourceVersion = String(BigInt(object.metadata.resourceVersion) - 1n);
  return { type, object: { ...object, metadata: { ...object.metadata, resourceVersion } } };
}

function withoutAnnotations({ type, object }: Json): Json {
  const { annotations: _, ...metadata } = object.metadata;
  return { type, object: { ...object, metadata } };
}
