import { StatusError } from '../../status-error.ts';
import { asList, asRecord, asText } from './json-members.ts';
import type { PodView } from './pod-view.ts';

/** A kind whose logs are served. */
export interface WorkloadKind {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Which pods that fit the selector belong to the object. */
  readonly owns: 'itself' | 'its-own' | 'of-its-replica-sets';
}

const APPS = { group: 'apps', version: 'v1' };

const KINDS: ReadonlyMap<string, WorkloadKind> = new Map(
  [
    { group: '', version: 'v1', resource: 'pods', owns: 'itself' as const },
    { ...APPS, resource: 'deployments', owns: 'of-its-replica-sets' as const },
    { ...APPS, resource: 'replicasets', owns: 'its-own' as const },
    { ...APPS, resource: 'statefulsets', owns: 'its-own' as const },
    { ...APPS, resource: 'daemonsets', owns: 'its-own' as const },
    { group: 'batch', version: 'v1', resource: 'jobs', owns: 'its-own' as const },
  ].map((kind) => [kind.resource, kind]),
);

/** The kind of this plural, or `plural.group` as in the lists of every kind. */
const kindOf = (resource: string): WorkloadKind | undefined => {
  const [plural = '', ...group] = resource.split('.');
  const kind = KINDS.get(plural);
  return group.length === 0 || kind?.group === group.join('.') ? kind : undefined;
};

/** An object whose pods are followed. */
export interface WorkloadName {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
}

/** A name of an object or a namespace: a DNS subdomain (RFC 1123). Nothing else may come into a path of the cluster. */
const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Throws a 404 for a resource without logs, and for what cannot be a name. */
export function toWorkloadName(namespace: string, resource: string, name: string): WorkloadName {
  const kind = kindOf(resource);
  if (!kind) throw noLogs();
  if (!NAME.test(namespace) || !NAME.test(name)) throw noName();
  return { kind, namespace, name };
}

const noLogs = (): StatusError =>
  new StatusError('NotFound', { message: `logs are served of ${[...KINDS.keys()].join(', ')}, and of nothing else` });

const noName = (): StatusError => new StatusError('NotFound', { message: 'there is no object of this name' });

/** The path of the object at the cluster. */
export function pathOfWorkload({ kind, namespace, name }: WorkloadName): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  return `${root}/namespaces/${namespace}/${kind.resource}/${name}`;
}

/** An object whose pods are followed, as it was read. */
export class Workload {
  readonly uid: string;
  /** Whether it never has another pod that writes: a job that has ended, or a pod. */
  readonly isFinished: boolean;
  /** The query that selects its pods in lists and watches. */
  readonly selection: Readonly<Record<string, string>>;
  readonly #owns: WorkloadKind['owns'];

  constructor({ kind, name }: WorkloadName, object: unknown) {
    const { metadata, spec, status } = asRecord(object);
    this.uid = asText(asRecord(metadata)['uid']);
    this.#owns = kind.owns;
    const selector = selectorText(asRecord(spec)['selector'] ?? { matchLabels: { 'job-name': name } });
    this.selection = kind.owns === 'itself' ? { fieldSelector: `metadata.name=${name}` } : { labelSelector: selector };
    this.isFinished =
      kind.owns === 'itself'
        ? ['Succeeded', 'Failed'].includes(asText(asRecord(status)['phase']))
        : kind.resource === 'jobs' && asList(asRecord(status)['conditions']).map(asRecord).some(isEnd);
  }

  /** Whether a pod that fits the selector belongs to it: other objects may have pods with the same labels. */
  has({ uid, controller }: PodView): boolean {
    switch (this.#owns) {
      case 'itself':
        return uid === this.uid;
      case 'its-own':
        return controller?.uid === this.uid;
      case 'of-its-replica-sets':
        return controller?.kind === 'ReplicaSet';
      default:
        return this.#owns satisfies never;
    }
  }
}

const isEnd = ({ type, status }: Readonly<Record<string, unknown>>): boolean =>
  (type === 'Complete' || type === 'Failed') && status === 'True';

/** A `metav1.LabelSelector` as the text of the query parameter. */
function selectorText(selector: unknown): string {
  const { matchLabels, matchExpressions } = asRecord(selector);
  const equal = Object.entries(asRecord(matchLabels)).map(([key, value]) => `${key}=${asText(value)}`);
  return [...equal, ...asList(matchExpressions).map((one) => requirementText(asRecord(one)))].join(',');
}

function requirementText({ key, operator, values }: Readonly<Record<string, unknown>>): string {
  const name = asText(key);
  const set = `(${asList(values).map(asText).join(',')})`;
  if (operator === 'In') return `${name} in ${set}`;
  if (operator === 'NotIn') return `${name} notin ${set}`;
  return operator === 'DoesNotExist' ? `!${name}` : name;
}
