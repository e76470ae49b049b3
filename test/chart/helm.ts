import { join } from 'node:path';
import type {
  V1ConfigMap,
  V1Container,
  V1Deployment,
  V1Pod,
  V1PodSpec,
  V1PodTemplateSpec,
  V1PolicyRule,
} from '@kubernetes/client-node';
import { parse, parseAllDocuments } from 'yaml';
import { clusterTool } from '../support/cluster-tools.ts';
import { runTool } from '../support/control-plane/clients.ts';

export const CHART = join(import.meta.dirname, '..', '..', 'charts', 'gatehouse');
export const NAMESPACE = 'gatehouse-system';

/** By these annotations Argo CD and Flux leave an object that they no longer render. */
export const NOT_PRUNED = {
  'argocd.argoproj.io/sync-options': 'Prune=false',
  'argocd.argoproj.io/compare-options': 'IgnoreExtraneous',
  'kustomize.toolkit.fluxcd.io/prune': 'disabled',
};

/** What every rendered object has; the rest is read through the type that the caller names. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** The objects of one rendering. */
export class Rendered {
  readonly objects: readonly Manifest[];
  readonly text: string;
  constructor(text: string) {
    this.text = text;
    this.objects = parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
  }

  all<T>(kind: string): T[] {
    return this.objects.filter((object) => object.kind === kind) as T[];
  }

  /** The one object of that kind, and name where there are several. */
  one<T = Manifest>(kind: string, name?: string): T {
    const found = this.objects.filter((one) => one.kind === kind && (!name || one.metadata.name === name));
    if (found.length !== 1) throw new Error(`${found.length} objects are ${kind} ${name ?? ''}`);
    return found[0] as T;
  }

  get template(): V1PodTemplateSpec {
    return this.one<V1Deployment>('Deployment').spec!.template;
  }

  get pod(): V1PodSpec {
    return this.template.spec!;
  }

  get container(): V1Container {
    return this.pod.containers[0]!;
  }

  /** The configuration file as text. */
  get configFile(): string {
    const maps = this.all<V1ConfigMap>('ConfigMap').filter(({ data }) => data?.['config.yaml']);
    return maps[0]!.data!['config.yaml']!;
  }

  get config(): unknown {
    return parse(this.configFile);
  }

  /** Every rule of every role, with the kind and name of its role. */
  get rules(): (V1PolicyRule & { readonly role: string })[] {
    return [...this.all<Role>('ClusterRole'), ...this.all<Role>('Role')].flatMap((role) =>
      role.rules.map((rule) => ({ ...rule, role: `${role.kind} ${role.metadata.name}` })),
    );
  }
}

/** Kind and name; that of the configuration's ConfigMap without the end that its content makes. */
export const nameOf = ({ kind, metadata }: Manifest): string =>
  `${kind} ${metadata.name.replace(/(?<=-config)-[0-9a-f]{10}$/, '')}`;

type Role = Manifest & { readonly rules: V1PolicyRule[] };

/** Runs Helm 4, or Helm 3 where a test says so. */
export async function helm(args: readonly string[], input?: string, tool: 'helm' | 'helm3' = 'helm'): Promise<string> {
  return runTool(await clusterTool(tool), args, input);
}

/**
 * `helm template` of the chart with `values`, without the pod of `helm test`; rejects with Helm's words when the chart
 * refuses them.
 */
export async function render(values: object = {}, release = 'gatehouse'): Promise<Rendered> {
  const args = ['template', release, CHART, '--namespace', NAMESPACE, '--skip-tests', '--values', '-'];
  return new Rendered(await helm(args, JSON.stringify(values)));
}

/** The pod of `helm test` alone. */
export async function renderTest(values: object = {}): Promise<V1Pod> {
  const only = ['--show-only', 'templates/tests/sign-in-and-list.yaml'];
  const args = ['template', 'gatehouse', CHART, '--namespace', NAMESPACE, ...only, '--values', '-'];
  return new Rendered(await helm(args, JSON.stringify(values))).one<V1Pod>('Pod');
}

/** What Helm says after an install with `values` that asks no cluster, line by line. */
export async function notes(values: object): Promise<string[]> {
  const args = ['install', 'gatehouse', CHART, '--namespace', NAMESPACE, '--dry-run=client', '--values', '-'];
  const answer = await helm(args, JSON.stringify(values));
  const [, text = ''] = answer.split('NOTES:\n');
  return text.trim().split('\n');
}
