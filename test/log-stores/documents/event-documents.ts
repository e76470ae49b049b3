import { dayOf, type StoredDocument, uidOf } from './stored-document.ts';

/** Namespace, kind and name. The cluster has no namespace `gone` any more; nodes and volumes have none. */
const OBJECTS: readonly (readonly [string | undefined, string, string])[] = [
  ['shop', 'Pod', 'cart-7d9f8c6b5-x2x9p'],
  ['shop', 'Deployment', 'cart'],
  ['shop', 'Pod', 'db-0'],
  ['shop', 'PersistentVolumeClaim', 'data-db-0'],
  ['shop-staging', 'Pod', 'cart-5f6d7c8b9-m2n4b'],
  ['shop-staging', 'Deployment', 'cart'],
  ['billing', 'CronJob', 'nightly-backup'],
  ['billing', 'Job', 'nightly-backup-29384760'],
  ['kube-system', 'Pod', 'coredns-66bc5c9577-t5v7w'],
  ['gone', 'Pod', 'old-app-5d6f7c8b4-h2j4k'],
  ['team-a', 'Pod', 'web-75b8c9d6f4-n8p2r'],
  ['team-a', 'HorizontalPodAutoscaler', 'web'],
  [undefined, 'Node', 'worker-1'],
  [undefined, 'PersistentVolume', 'pv-7.data'],
];

/** Reason, type and message. */
const HAPPENINGS: readonly (readonly [string, string, string])[] = [
  ['BackOff', 'Warning', 'Back-off restarting failed container cart in pod cart-7d9f8c6b5-x2x9p_shop'],
  ['Pulled', 'Normal', 'Container image "registry.example/cart:1.4" already present on machine'],
  ['FailedScheduling', 'Warning', '0/3 nodes are available: 3 Insufficient memory. preemption: none'],
  ['Unhealthy', 'Warning', 'Readiness probe failed: HTTP probe failed with statuscode: 503'],
  ['ScalingReplicaSet', 'Normal', 'Scaled up replica set cart-7d9f8c6b5 to 3 from 2'],
  ['FailedMount', 'Warning', 'MountVolume.SetUp failed for volume "größe*": the volume is not attached'],
  ['Created', 'Normal', '订单 container 4711 created'],
  ['NodeNotReady', 'Normal', 'Node worker-1 status is now: NodeNotReady'],
  ['Failed', 'Warning', 'Failed to pull image "registry.example/web:2.0": unauthorized\nsecond line'],
];

const EVENTS = 300;
const FIRST_MS = Date.parse('2026-03-05T20:00:00.000Z');
/** 16 minutes and one millisecond: three and a third days in all, and no two events at the same time. */
const STEP_MS = 16 * 60_000 + 1;

/** The day of events of which none has `lastTimestamp`: its index has no mapping for it. */
export const DAY_WITHOUT_TIME = '2026-03-04';

/** Events of both forms, in the indices of their days. Every fifth has no `lastTimestamp`. */
export function eventDocuments(prefix = 'ks-logstash-events'): StoredDocument[] {
  const usual = Array.from({ length: EVENTS }, (_, at) => eventOf(at, FIRST_MS + at * STEP_MS, at % 5 === 0));
  const early = Array.from({ length: 6 }, (_, at) =>
    eventOf(EVENTS + at, Date.parse(DAY_WITHOUT_TIME) + at * STEP_MS, true),
  );
  // A clock that was wrong. They are younger than the cluster's own namespace, which is made at the start of the test.
  const late = [8, 22].map((at) => eventOf(at, Date.parse('2036-03-07T10:00:00Z') + at * STEP_MS, false));
  return [...usual, ...early, ...late].map(({ at, source }) => ({ index: `${prefix}-${dayOf(at)}`, source }));
}

/** Event number `at`. An object has events of both forms. */
function eventOf(at: number, ms: number, isWithoutTime: boolean): { readonly at: number; readonly source: object } {
  const [namespace, kind, name] = OBJECTS[at % OBJECTS.length] ?? [];
  const [reason, type, message] = HAPPENINGS[Math.floor(at / 3) % HAPPENINGS.length] ?? [];
  const time = new Date(ms).toISOString();
  const second = `${time.slice(0, 19)}Z`;
  const object = { kind, ...(namespace && { namespace }), name, uid: uidOf(`${namespace}/${kind}/${name}`) };
  const metadata = { name: `${name}.${at.toString(16)}`, namespace: namespace ?? 'default' };
  const source =
    at % 3 === 1
      ? {
          metadata,
          regarding: object,
          note: message,
          reason,
          type,
          eventTime: `${time.slice(0, 23)}000Z`,
          reportingController: 'kubelet',
          ...(isWithoutTime ? { series: { count: 2, lastObservedTime: time } } : { lastTimestamp: time }),
        }
      : {
          metadata,
          involvedObject: object,
          message,
          reason,
          type,
          firstTimestamp: isWithoutTime ? null : second,
          lastTimestamp: isWithoutTime ? null : time,
          eventTime: isWithoutTime ? time : null,
          count: 1 + (at % 4),
          source: { component: 'kubelet' },
        };
  return { at: ms, source };
}
