import type { KubeObject, NewObject } from '../../../dev/cluster/kube-object.ts';
import { uuidFrom } from '../../../dev/cluster/seeded-random.ts';
import { type SimulatedLogStore, startSimulatedLogStore } from '../../../dev/log-store/log-store.ts';
import type { Random } from '../../../src/runtime/random.ts';
import { atEnd } from '../../support/at-end.ts';

const MINUTE_MS = 60_000;
const PAST_MS = 6 * 60 * MINUTE_MS;

/** A store of events, without one. */
export const startEvents = (): Promise<SimulatedLogStore<object>> =>
  startStore({ time: 'lastTimestamp', prefix: 'ks-logstash-events' });

/** A store of audit records, without one. */
export const startAuditRecords = (): Promise<SimulatedLogStore<object>> =>
  startStore({ time: 'RequestReceivedTimestamp', prefix: 'ks-logstash-auditing' });

async function startStore(form: {
  readonly time: string;
  readonly prefix: string;
}): Promise<SimulatedLogStore<object>> {
  const store = await startSimulatedLogStore<object>({ form });
  atEnd(() => store.stop());
  return store;
}

/** An event about a pod of the namespace `shop`, in the form of `v1`. The pod need not be there. */
export const eventOf = (name: string, { agoMs = MINUTE_MS, ...more }: EventSpec = {}): NewObject => ({
  ...{ apiVersion: 'v1', kind: 'Event' },
  metadata: { name: `${name}.1`, namespace: 'shop' },
  involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name, uid: `uid-of-${name}` },
  ...{ type: 'Normal', reason: 'Pulled', message: 'Container image already present', count: 1 },
  lastTimestamp: timeOf(agoMs),
  ...more,
});

/** An audit record of a request for a pod of the namespace `shop`, spelled as KubeSphere spells it. */
export const auditOf = ({ agoMs = MINUTE_MS, ...more }: EventSpec = {}): object => ({
  ...{ AuditID: `audit-${agoMs}`, Level: 'Metadata', Stage: 'ResponseComplete', Verb: 'delete' },
  User: { Username: 'ada', Groups: ['admins', 'system:authenticated'] },
  ObjectRef: { Resource: 'pods', Namespace: 'shop', Name: 'web-1' },
  ...{ SourceIPs: ['10.1.2.3'], ResponseStatus: { code: 200 }, RequestReceivedTimestamp: timeOf(agoMs) },
  ...more,
});

interface EventSpec {
  readonly agoMs?: number;
  readonly [member: string]: unknown;
}

const timeOf = (agoMs: number): string => new Date(Date.now() - agoMs).toISOString();

const pick = <T>(random: Random, all: readonly T[]): T => all[Math.floor(random.fraction() * all.length)] as T;

const SAID = [
  ['Normal', 'Scheduled', 'Successfully assigned % to worker-a-2'],
  ['Normal', 'Pulled', 'Container image "registry.example.test/shop:v1.4.2" already present on machine'],
  ['Normal', 'Started', 'Container started'],
  ['Warning', 'Unhealthy', 'Readiness probe failed: Get "http://10.1.4.17:8080/ready": context deadline exceeded'],
  ['Warning', 'BackOff', 'Back-off restarting failed container storefront in pod %'],
] as const;

/** Events of the last hours about pods, the fifth in the form of `events.k8s.io/v1`. */
export const pastEvents = (pods: readonly KubeObject[], random: Random): readonly object[] =>
  Array.from({ length: 400 }, (_, place) => {
    const { name, namespace, uid } = pick(random, pods).metadata;
    const [type, reason, message] = pick(random, SAID);
    const agoMs = Math.floor(random.fraction() ** 2 * PAST_MS);
    const about = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
    const text = message.replace('%', `${namespace}/${name}`);
    const count = type === 'Normal' ? 1 : Math.ceil(random.fraction() * 30);
    const common = { ...{ type, reason }, metadata: { name: `${name}.${place}`, namespace } };
    if (place % 5 > 0) return { ...common, involvedObject: about, message: text, count, lastTimestamp: timeOf(agoMs) };
    const time = timeOf(agoMs);
    return { ...common, regarding: about, note: text, series: { count, lastObservedTime: time }, lastTimestamp: time };
  });

const CALLERS = [
  { user: 'ada', source: '10.20.4.11' },
  { user: 'dana', source: '10.20.4.57' },
  { user: 'ivy', source: '192.0.2.44' },
  { user: 'system:serviceaccount:kube-system:gatehouse', source: '10.1.0.9', impersonated: 'dana' },
  { user: 'system:serviceaccount:argocd:application-controller', source: '10.1.7.30' },
] as const;
const CALLS = [
  ['get', 'secrets', 'payments-key', 403],
  ['list', 'pods', '', 200],
  ['create', 'deployments', 'storefront', 201],
  ['patch', 'deployments', 'storefront', 200],
  ['delete', 'pods', 'checkout-fdt6mntlfx-7cmw4', 200],
  ['update', 'configmaps', 'catalog-settings', 409],
] as const;

/** Audit records of the last hours, each second one with small letters where the stores differ. */
export const pastAuditRecords = (random: Random): readonly object[] =>
  Array.from({ length: 400 }, (_, place) => {
    const caller = pick(random, CALLERS);
    const [verb, resource, name, code] = pick(random, CALLS);
    const namespace = pick(random, ['shop', 'payments', 'monitoring']);
    const isSmall = place % 2 > 0;
    return {
      ...{ AuditID: uuidFrom(random), Level: 'Metadata', Stage: 'ResponseComplete', Verb: verb },
      RequestURI: `/api/v1/namespaces/${namespace}/${resource}/${name}`,
      User: isSmall ? { username: caller.user } : { Username: caller.user, Groups: ['system:authenticated'] },
      ...('impersonated' in caller && { ImpersonatedUser: { username: caller.impersonated } }),
      ObjectRef: isSmall
        ? { resource, namespace, name, apiVersion: 'v1' }
        : { Resource: resource, Namespace: namespace, Name: name, APIVersion: 'v1' },
      ...{ SourceIPs: [caller.source], UserAgent: 'kubectl/v1.36.0 (linux/amd64)' },
      ResponseStatus: { metadata: {}, code, ...(code > 399 && { status: 'Failure' }) },
      RequestReceivedTimestamp: timeOf(Math.floor(random.fraction() * PAST_MS)),
    };
  });
