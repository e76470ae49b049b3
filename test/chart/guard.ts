import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../cluster/eventually.ts';
import type { ControlPlane } from '../support/control-plane.ts';
import { CHART } from './helm.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';

/** The templates by which releases know of each other's guards; a chart without them is rendered as if it knew of none. */
const SHARED = ['accounts-writers-clusterrole.yaml', 'accounts-writers-clusterrolebinding.yaml'];

/**
 * This chart as it was when the guard of a release let nobody write but the writers of that release. The caller removes
 * the folder.
 */
export async function chartWithOlderGuard(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-older-guard-'));
  const templates = join(folder, 'templates');
  await cp(CHART, folder, { recursive: true });
  await cp(join(import.meta.dirname, 'older-guard.tpl'), join(templates, 'accounts-validatingadmissionpolicy.yaml'));
  await cp(
    join(import.meta.dirname, 'older-guard-binding.tpl'),
    join(templates, 'accounts-validatingadmissionpolicybinding.yaml'),
  );
  for (const file of SHARED) await rm(join(templates, file), { force: true });
  const nothing = ['preflight.guards', 'notes.guards'].map((name) => `{{- define "gatehouse.${name}" -}}{{- end }}`);
  await writeFile(join(templates, '_guard.tpl'), nothing.join('\n'));
  return folder;
}

/** Somebody who asks the cluster to make a user of a platform. */
export interface Writer {
  readonly name: string;
  readonly groups?: readonly string[];
  readonly platform?: string;
}

/** Who may write users, as a real API server says. */
export class Guards {
  readonly #cluster: ControlPlane;
  #rounds = 0;

  constructor(cluster: ControlPlane) {
    this.#cluster = cluster;
  }

  /**
   * Resolves when every policy, role and binding that was written before counts: the API server reads each kind in order,
   * so it is enough that one that was written last counts.
   */
  async settle(): Promise<void> {
    const name = `settled-${this.#rounds++}`;
    await this.#apply([...RIGHT_OF(name), ...POLICY_OF(name)]);
    const map = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });
    await eventually(
      () => this.#refusal(map, { name }),
      (refusal) => refusal.includes('ValidatingAdmissionPolicy'),
    );
  }

  /** Gives somebody every right on users of the platform, besides what the release gives. */
  async letWrite(name: string, platform = 'gatehouse'): Promise<void> {
    const rules = [{ apiGroups: [`iam.${platform}.io`], resources: ['*'], verbs: ['*'] }];
    await this.#apply(roleOf(`writes-${platform}-${name.replaceAll(/[^a-z0-9]/g, '-')}`, rules, name));
  }

  /** Why the cluster refuses a user that this writer makes; empty when it does not. Nothing is stored. */
  async refusal({ platform = 'gatehouse', ...writer }: Writer): Promise<string> {
    const user = { apiVersion: `iam.${platform}.io/v1alpha2`, kind: 'User', spec: { email: '' } };
    return this.#refusal(JSON.stringify({ ...user, metadata: { name: 'somebody' } }), writer);
  }

  async #refusal(object: string, { name, groups = [] }: Writer): Promise<string> {
    const as = [`--as=${name}`, ...groups.map((group) => `--as-group=${group}`)];
    try {
      await this.#cluster.kubectl(['create', '--dry-run=server', '--validate=false', ...as, '-f', '-'], object);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  }

  async #apply(items: readonly object[]): Promise<void> {
    await this.#cluster.kubectl(
      ['apply', '--validate=false', '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    );
  }
}

/** A role of this name with these rules, and its binding to a user. */
const roleOf = (name: string, rules: readonly object[], user: string): object[] => [
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules },
  {
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  },
];

const RIGHT_OF = (name: string): object[] =>
  roleOf(name, [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'get'] }], name);

/** A policy that refuses a ConfigMap of this name. */
const POLICY_OF = (name: string): object[] => [
  {
    ...{ apiVersion, kind: 'ValidatingAdmissionPolicy', metadata: { name } },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          {
            ...{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'] },
            ...{ resources: ['configmaps'], resourceNames: [name] },
          },
        ],
      },
      validations: [{ expression: 'false', message: 'it counts' }],
    },
  },
  {
    ...{ apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name } },
    spec: { policyName: name, validationActions: ['Deny'] },
  },
];
