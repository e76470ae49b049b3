import { type KindsStand, startKinds } from '../kinds/kinds-stand.ts';
import type { Answer, Person } from '../service/stand.ts';

const TENANT = '/kapis/tenant.gatehouse.io/v1alpha2';
const RBAC = 'rbac.authorization.k8s.io';

/** Gatehouse in front of the namespaces `red`, `green` and `blue`, and what people find in its searches. */
export class SearchStand {
  readonly kinds: KindsStand;

  private constructor(kinds: KindsStand) {
    this.kinds = kinds;
  }

  static async start(config: Readonly<Record<string, unknown>> = {}): Promise<SearchStand> {
    return new SearchStand(await startKinds(['red', 'green', 'blue'], { config }));
  }

  ask(path: string, person: Person = 'ada'): Promise<Answer> {
    const { clock, service, tokens } = this.kinds;
    return clock.during(service.call(`${TENANT}/${path}`, { token: tokens[person] }));
  }

  events = (parameters: string, person?: Person): Promise<Answer> => this.ask(`events?${parameters}`, person);
  auditRecords = (parameters: string, person?: Person): Promise<Answer> =>
    this.ask(`auditing/events?${parameters}`, person);

  /** The names of the found events, the newest first, or the status of another answer than 200. */
  async names(parameters: string, person?: Person): Promise<readonly string[] | number> {
    const { status, body } = await this.events(parameters, person);
    return status === 200 ? body.query.records.map(({ metadata }: EventOf) => metadata.name) : status;
  }

  /** Gives Joe a right in the whole cluster. */
  allowEverywhere(group: string, resource: string): void {
    const { objects } = this.kinds.cluster;
    const [base, metadata] = [{ apiVersion: `${RBAC}/v1` }, { name: `joe-${resource}.${group}` }];
    const rules = [{ apiGroups: [group], resources: [resource], verbs: ['list'] }];
    objects.create('clusterroles', { ...base, kind: 'ClusterRole', metadata, rules });
    const subjects = [{ kind: 'User', apiGroup: RBAC, name: 'joe' }];
    const roleRef = { kind: 'ClusterRole', apiGroup: RBAC, name: metadata.name };
    objects.create('clusterrolebindings', { ...base, kind: 'ClusterRoleBinding', metadata, roleRef, subjects });
  }

  /** Adds an event about a pod, or about a node without a namespace. */
  event(name: string, { namespace = 'red', ...more }: EventSpec = {}): void {
    const about = namespace === '' ? {} : { namespace };
    this.kinds.cluster.objects.create('events', {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: namespace || 'default' },
      involvedObject: { kind: 'Pod', name: 'web-1', uid: `uid-of-${namespace}`, ...about },
      ...{ type: 'Normal', reason: 'Pulled', message: 'Container image already present', ...more },
    });
  }
}

interface EventSpec {
  readonly namespace?: string;
  readonly [member: string]: unknown;
}

interface EventOf {
  readonly metadata: { readonly name: string };
}
