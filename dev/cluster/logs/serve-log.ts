import type { Clock } from '../../../src/runtime/clock.ts';
import type { Body } from '../body.ts';
import { isRecord, type KubeObject, memberAt } from '../kube-object.ts';
import type { ObjectStore } from '../object-store.ts';
import { type ApiRequest, isTrue, type ResourceTarget, targetKey } from '../request.ts';
import { badRequest, notFound } from '../status.ts';
import { type LogInstance, type PodLogs, statusOfContainer } from './pod-logs.ts';

interface LogParts {
  readonly store: ObjectStore;
  readonly podLogs: PodLogs;
  readonly clock: Clock;
}

/** Whether the request reads the log of a pod. */
export const isForLog = ({ verb, target }: ApiRequest): boolean =>
  verb === 'get' && target?.kind.name === 'pods' && target.subresource === 'log';

/**
 * Answers a request for the log of a pod, as kube-apiserver and kubelet do it
 * (https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.34/#read-log-pod-v1-core): `container`, `follow`, `previous`,
 * `timestamps`, `tailLines`, `sinceSeconds` and `sinceTime`, which the API server cuts to whole seconds. `open` begins the answer.
 */
export async function serveLog(
  { query, target }: ApiRequest,
  parts: LogParts,
  { open, gone }: { open: () => Body; readonly gone: AbortSignal },
): Promise<void> {
  const { store, podLogs } = parts;
  const pod = store.get('pods', targetKey(target!));
  if (!pod) throw notFound(target!.kind, target!.name);
  const container = containerIn(pod, query);
  const status = statusOfContainer(pod, container);
  const logs = podLogs.of(pod, container);
  const about = `container "${container}" in pod "${pod.metadata.name}"`;
  const isPrevious = isTrue(query.get('previous'));
  if (isPrevious && !logs.previous) throw badRequest(`previous terminated ${about} not found`);
  const waiting = memberAt(status, ['state', 'waiting', 'reason']);
  if (!isPrevious && waiting !== undefined && !hasStarted(status))
    throw badRequest(`${about} is waiting to start: ${waiting}`);
  const instance = (isPrevious && logs.previous) || logs.current;
  const body = open();
  const follows = isTrue(query.get('follow')) && !isPrevious;
  const isOver = (): boolean => !follows || !runs(parts, target!, { pod, container, instance });
  await writeLog(body, instance, { ...parts, pod: targetKey(target!), query, isOver, gone });
  if (!gone.aborted) body.end();
}

interface Writing extends LogParts {
  /** `namespace/name` */
  readonly pod: string;
  readonly query: URLSearchParams;
  readonly gone: AbortSignal;
  /** Whether nothing more will be written. */
  isOver(): boolean;
}

async function writeLog(
  body: Body,
  instance: LogInstance,
  { store, podLogs, clock, pod, query, isOver, gone }: Writing,
) {
  const isTimed = isTrue(query.get('timestamps'));
  let news = Promise.withResolvers<void>();
  const tell = (): void => {
    news.resolve();
    news = Promise.withResolvers();
  };
  const forget = [podLogs.subscribe(pod, tell), store.collection('pods').subscribe({ changed: tell, ended: tell })];
  gone.addEventListener('abort', tell);
  try {
    for (let at = firstLine(instance, query, clock.now()); !gone.aborted; ) {
      const more = news.promise;
      const over = isOver(); // asked before the last lines are taken
      for (; at < instance.dropped + instance.lines.length && !gone.aborted; at++) {
        const line = instance.lines[at - instance.dropped];
        if (!line) continue;
        const begin = isTimed ? `${line.time} ` : '';
        if (!body.write(Buffer.concat([Buffer.from(begin), Buffer.from(line.text as string), NEWLINE])))
          await body.drained();
      }
      if (over) return;
      await more;
    }
  } finally {
    for (const end of forget) end();
  }
}

const NEWLINE = Buffer.from('\n');

/** The position of the first line that is sent, counted from the beginning of the instance. */
function firstLine({ lines, dropped }: LogInstance, query: URLSearchParams, now: number): number {
  const seconds = query.get('sinceSeconds');
  const sinceTime = query.get('sinceTime');
  const since = seconds === null ? sinceTime && Date.parse(sinceTime) : now - 1_000 * Number(seconds);
  const first = since ? lines.findIndex(({ time }) => Date.parse(time) >= Math.floor(since / 1_000) * 1_000) : 0;
  const from = first < 0 ? lines.length : first;
  const tail = query.get('tailLines');
  return dropped + (tail === null ? from : Math.max(from, lines.length - Number(tail)));
}

function containerIn(pod: KubeObject, query: URLSearchParams): string {
  const lists = ['containers', 'initContainers', 'ephemeralContainers'];
  const namesOf = (list: string): string[] =>
    ((pod.spec?.[list] ?? []) as unknown[]).filter(isRecord).map(({ name }) => String(name));
  const wanted = query.get('container');
  const name = pod.metadata.name;
  const [first = '', ...others] = namesOf('containers');
  if (wanted === null && others.length > 0)
    throw badRequest(
      `a container name must be specified for pod ${name}, choose one of: [${[first, ...others].join(' ')}]`,
    );
  const container = wanted ?? first;
  if (!lists.flatMap(namesOf).includes(container))
    throw badRequest(`container ${container} is not valid for pod ${name}`);
  return container;
}

const hasStarted = (status: Readonly<Record<string, unknown>> | undefined): boolean =>
  memberAt(status, ['lastState', 'terminated']) !== undefined || Number(memberAt(status, ['restartCount']) ?? 0) > 0;

/** Whether this instance of the container still runs in this very pod. */
function runs(
  { store, podLogs }: Omit<LogParts, 'clock'>,
  target: ResourceTarget,
  {
    pod,
    container,
    instance,
  }: { readonly pod: KubeObject; readonly container: string; readonly instance: LogInstance },
): boolean {
  const now = store.get('pods', targetKey(target));
  if (now?.metadata.uid !== pod.metadata.uid || podLogs.of(now, container).current !== instance) return false;
  const status = statusOfContainer(now, container);
  return status ? isRecord(memberAt(status, ['state', 'running'])) : now.status?.['phase'] === 'Running';
}
