import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import type { NewObject } from '../../../dev/cluster/kube-object.ts';
import type { GatehouseOptions } from '../../support/gatehouse.ts';
import { type DrivenClock, startDrivenReady } from '../service/driven.ts';
import { type Answer, type Person, passwordOf, type Service, startCluster } from '../service/stand.ts';

const PLATFORM = 'kubesphere';
export const TENANT = `/kapis/tenant.${PLATFORM}.io`;
export const IAM = `/kapis/iam.${PLATFORM}.io/v1alpha2`;
export const RESOURCES = `/kapis/resources.${PLATFORM}.io`;
export const CONFIGS = `/kapis/config.${PLATFORM}.io/v1alpha2/configs`;
const WORKSPACE_LABEL = `${PLATFORM}.io/workspace`;

const RBAC = 'rbac.authorization.k8s.io';

/** The definition of a custom kind of the cluster, in one version. */
const definition = (plural: string, kind: string, [group, version]: readonly [string, string]): NewObject => ({
  metadata: { name: `${plural}.${group}` },
  spec: {
    ...{ group, scope: 'Cluster', names: { plural, kind } },
    versions: [{ name: version, served: true, storage: true }],
  },
});

/** The definitions that a cluster of KubeSphere has. */
export const WORKSPACE_DEFINITIONS: readonly NewObject[] = [
  definition('workspaces', 'Workspace', [`tenant.${PLATFORM}.io`, 'v1alpha1']),
  definition('workspacetemplates', 'WorkspaceTemplate', [`tenant.${PLATFORM}.io`, 'v1alpha2']),
  definition('workspaceroles', 'WorkspaceRole', [`iam.${PLATFORM}.io`, 'v1alpha2']),
  definition('workspacerolebindings', 'WorkspaceRoleBinding', [`iam.${PLATFORM}.io`, 'v1alpha2']),
];

interface BindingSpec {
  readonly name: string;
  /** `''`: a ClusterRoleBinding. */
  readonly namespace?: string;
  readonly role: string;
  readonly subject: { readonly kind: 'User' | 'Group'; readonly name: string };
}

/** A cluster with some namespaces, and Gatehouse as `kubesphere` in front of it. Ada may do everything, Joe what a test gives him. */
export async function startConsole(change: Partial<GatehouseOptions> = {}): Promise<ConsoleStand> {
  const cluster = await startCluster({ isNew: true, platform: PLATFORM });
  const config = { platform: PLATFORM, ...change.config };
  const { service, clock } = await startDrivenReady(cluster, { ...change, config });
  const stand = new ConsoleStand(cluster, service, clock);
  for (const person of ['ada', 'joe'] as const) await stand.signIn(person);
  return stand;
}

export class ConsoleStand {
  readonly cluster: SimulatedCluster;
  readonly service: Service;
  readonly clock: DrivenClock;
  readonly #tokens = new Map<Person, string>();

  constructor(cluster: SimulatedCluster, service: Service, clock: DrivenClock) {
    this.cluster = cluster;
    this.service = service;
    this.clock = clock;
  }

  /** Signs in as the console does, with a field that nobody reads. */
  async signIn(person: Person): Promise<void> {
    const form = {
      ...{ grant_type: 'password', client_id: PLATFORM, client_secret: PLATFORM, encrypt: 'x' },
      ...{ username: person, password: passwordOf(person) },
    };
    const { body } = await this.clock.during(this.service.call('/oauth/token', { form }));
    this.#tokens.set(person, body.access_token);
  }

  ask(path: string, person?: Person, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Answer> {
    const token = person && this.#tokens.get(person);
    return this.clock.during(this.service.call(path, { method, token, headers }));
  }

  /** The names of the items, and the total; or the status of another answer than 200. */
  async names(path: string, person: Person = 'joe'): Promise<readonly (string | number)[] | number> {
    const { status, body } = await this.ask(path, person);
    if (status !== 200) return status;
    const items: { readonly metadata: { readonly name: string } }[] = Array.isArray(body) ? body : body.items;
    const names = items.map(({ metadata }) => metadata.name);
    return Array.isArray(body) ? names : [...names, body.totalItems];
  }

  /** Waits until an answer to the person is these names and this total: what was reviewed a moment ago is remembered. */
  shows(path: string, expected: readonly (string | number)[] | number, person: Person = 'joe'): Promise<unknown> {
    return this.clock.until(
      () => this.names(path, person),
      (names) => JSON.stringify(names) === JSON.stringify(expected),
    );
  }

  namespace(name: string, workspace?: string): void {
    const labels = workspace === undefined ? {} : { [WORKSPACE_LABEL]: workspace };
    this.cluster.objects.create('namespaces', { metadata: { name, labels }, status: { phase: 'Active' } });
  }

  workspace(name: string): void {
    const group = `tenant.${PLATFORM}.io`;
    this.cluster.objects.create(`workspaces.${group}`, { metadata: { name }, spec: { manager: 'ada' } });
    this.cluster.objects.create(`workspacetemplates.${group}`, { metadata: { name }, spec: { placement: {} } });
  }

  /** Makes a subject a member of a workspace. The returned function ends that. */
  member(workspace: string, subject: BindingSpec['subject'], role = `${workspace}-viewer`): () => void {
    const kind = `workspacerolebindings.iam.${PLATFORM}.io`;
    const name = `${subject.name}-${workspace}`;
    const metadata = { name, labels: { [WORKSPACE_LABEL]: workspace } };
    this.cluster.objects.create(kind, {
      ...{ metadata, subjects: [{ apiGroup: RBAC, ...subject }] },
      roleRef: { kind: 'WorkspaceRole', name: role },
    });
    return () => this.cluster.objects.remove(kind, name);
  }

  role(plural: string, name: string, more: Readonly<Record<string, unknown>> = {}, namespace?: string): void {
    const { annotations, ...others } = more;
    const metadata = { name, ...(namespace && { namespace }), ...(annotations ? { annotations } : {}) };
    this.cluster.objects.create(plural, { metadata: metadata as NewObject['metadata'], rules: [], ...others });
  }

  bind({ name, namespace = '', role, subject }: BindingSpec): void {
    const [kind = '', roleName = ''] = role.split('/');
    this.cluster.objects.create(namespace === '' ? 'clusterrolebindings' : 'rolebindings', {
      metadata: { name, ...(namespace && { namespace }) },
      roleRef: { apiGroup: RBAC, kind, name: roleName },
      subjects: [{ apiGroup: RBAC, ...subject }],
    });
  }

  /** Lets Joe list pods in a namespace, so that he may see it. */
  admit(namespace: string): void {
    this.role('roles', 'pod-reader', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }] }, namespace);
    this.bind({ name: 'joe', namespace, role: 'Role/pod-reader', subject: { kind: 'User', name: 'joe' } });
  }
}
