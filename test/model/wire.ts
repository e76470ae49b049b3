import type { Failure } from '../../src/kubernetes/reflector/failure.ts';
import type { WatchEvent } from '../../src/kubernetes/reflector/lister-watcher.ts';
import type { Change } from './history.ts';

/** What the server asks for with a 429. */
const RETRY_AFTER_MS = 7_000;

export const THROTTLED: Failure = { kind: 'throttled', retryAfterMs: RETRY_AFTER_MS };
export const ABORTED: Failure = { kind: 'aborted' };

export const toEvent = ({ type, object }: Change): WatchEvent => ({ type, object: { ...object } });

export const errorEvent = (code: number): WatchEvent => ({
  type: 'ERROR',
  object: {
    kind: 'Status',
    code,
    reason: code === 410 ? 'Expired' : 'InternalError',
    details: { retryAfterSeconds: RETRY_AFTER_MS / 1000 },
  },
});

export const tooLargeEvent = (): WatchEvent => ({
  type: 'ERROR',
  object: { kind: 'Status', code: 504, details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } },
});

export const bookmark = (resourceVersion: string): WatchEvent => ({
  type: 'BOOKMARK',
  object: { kind: 'Node', metadata: { resourceVersion } },
});

export const initialEventsEnd = (resourceVersion: string): WatchEvent => ({
  type: 'BOOKMARK',
  object: { kind: 'Node', metadata: { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } } },
});

/** C-21: none of these is a change. */
export const ODD_EVENTS: readonly WatchEvent[] = [
  {
    type: 'SOMETHING',
    object: { metadata: { name: 'node-0', uid: 'odd', resourceVersion: '999999999999999999999999' } },
  },
  { type: 'MODIFIED', object: { kind: 'Table', rows: [] } },
  { type: 'ADDED', object: { metadata: { name: 'node-0' } } },
  { type: 'BOOKMARK', object: { metadata: {} } },
];
