import { BUSYBOX } from '../image/images.ts';
import { NODE_NAME } from '../kubernetes/place.ts';
import { PATIENTLY, type RunOptions } from './way.ts';
import { BENCH, configMap, list, shell, WORKLOAD } from './workload.ts';

/** A command that says the same however the cluster is reached. */
export interface Command extends RunOptions {
  readonly args: readonly string[];
  /** What it says, if not nothing: so that no two failures pass for a success. */
  readonly says?: RegExp;
  /** How it ends, if not well. */
  readonly code?: number;
}

/** The controller writes this annotation of a Deployment when there is the ReplicaSet of that number. */
const REVISION = '{.metadata.annotations.deployment\\.kubernetes\\.io/revision}';

/** What people do with kubectl, one after the other, as a person would. In the arguments `NAMESPACE` is that of the way. */
export const COMMANDS: readonly Command[] = [
  { args: ['apply', '-f', '-'], input: WORKLOAD, says: /configmap\/settings created/ },
  { args: ['wait', '--for=condition=Available', 'deployment/web', PATIENTLY], says: /condition met/ },
  { args: ['wait', '--for=condition=Ready', 'pod/bench', PATIENTLY], says: /condition met/ },
  { args: ['rollout', 'status', 'deployment/web'], says: /successfully rolled out/ },
  { args: ['apply', '-f', '-'], input: list(configMap({ color: 'blue' }), BENCH), says: /settings configured/ },
  { args: ['diff', '-f', '-'], input: list(configMap({ color: 'green' })), code: 1, says: /\+ {2}color: green/ },
  {
    args: ['apply', '--server-side', '--field-manager=other', '-f', '-'],
    input: list(configMap({ color: 'green' })),
    code: 1,
    says: /conflict with "kubectl-client-side-apply"/,
  },
  {
    args: ['apply', '--server-side', '--field-manager=other', '--force-conflicts', '-f', '-'],
    input: list(configMap({ color: 'green' })),
    says: /serverside-applied/,
  },
  { args: ['apply', '--dry-run=server', '-f', '-'], input: WORKLOAD, says: /server dry run/ },
  {
    args: ['apply', '-f', '-'],
    input: list({ ...configMap({}), datum: 'red' }),
    code: 1,
    says: /unknown field "datum"/,
  },
  { args: ['create', 'configmap', 'settings'], code: 1, says: /already exists/ },
  {
    args: ['create', '-f', '-'],
    input: list({ ...configMap({ big: 'x'.repeat(900_000) }), metadata: { name: 'big' } }),
    says: /created/,
  },
  { args: ['get', 'all'], says: /deployment.apps\/web/ },
  { args: ['get', 'pods', '--output=wide', '--show-labels'], says: new RegExp(NODE_NAME) },
  { args: ['get', 'configmap', 'settings', '--output=yaml', '--show-managed-fields'], says: /manager: other/ },
  { args: ['get', 'deployment', 'web', '--output=jsonpath={.spec.replicas}'], says: /^1$/ },
  { args: ['get', '--raw', '/api/v1/namespaces/NAMESPACE/configmaps/settings?pretty=true'], says: /"color": "green"/ },
  { args: ['get', 'nodes,clusterroles', '--output=name', '--chunk-size=10'], says: /clusterrole/ },
  { args: ['get', 'pod', 'nothing'], code: 1, says: /pods "nothing" not found/ },
  { args: ['get', 'nonsense'], code: 1, says: /doesn't have a resource type "nonsense"/ },
  {
    // Without events, which the kubelet counts up and puts in another order as they come.
    args: ['describe', 'deployment/web', 'pod/bench', 'configmap/settings', '--show-events=false'],
    says: /Container ID:/,
  },
  { args: ['explain', 'deployment.spec.strategy', '--recursive'], says: /maxSurge/ },
  { args: ['explain', 'pods.spec.containers', '--output=plaintext-openapiv2'], says: /imagePullPolicy/ },
  { args: ['api-resources', '--verbs=list'], says: /deployments/ },
  { args: ['api-versions'], says: /apps\/v1/ },
  { args: ['auth', 'can-i', '--list'], says: /\*\.\*/ },
  { args: ['top', 'pods'], code: 1, says: /Metrics API not available/ },
  { args: ['top', 'nodes'], code: 1, says: /Metrics API not available/ },
  { args: ['logs', 'bench'], says: /^ready$/m },
  { args: ['logs', 'deployment/web', '--tail=1', '--timestamps'], says: /ready/ },
  { args: ['patch', 'configmap', 'settings', '--type=merge', '--patch={"data":{"a":"1"}}'], says: /patched/ },
  {
    args: ['patch', 'configmap', 'settings', '--type=json', '--patch=[{"op":"remove","path":"/data/a"}]'],
    says: /patched/,
  },
  { args: ['patch', 'deployment', 'web', '--patch={"spec":{"minReadySeconds":1}}'], says: /patched/ },
  {
    args: ['patch', 'deployment', 'web', '--subresource=scale', '--type=merge', '--patch={"spec":{"replicas":0}}'],
    says: /patched/,
  },
  {
    args: [
      'patch',
      'configmap',
      'settings',
      '--type=json',
      '--patch=[{"op":"test","path":"/data/color","value":"red"}]',
    ],
    code: 1,
    says: /./,
  },
  { args: ['label', 'configmap', 'settings', 'a=b'], says: /labeled/ },
  { args: ['annotate', 'configmap', 'settings', 'a=b'], says: /annotated/ },
  { args: ['scale', 'deployment/web', '--replicas=1'], says: /scaled/ },
  { args: ['set', 'env', 'deployment/web', 'A=b'], says: /env updated/ },
  // The history is that of the ReplicaSets, and the controller makes the second one a moment later.
  { args: ['wait', `--for=jsonpath=${REVISION}=2`, 'deployment/web', PATIENTLY], says: /condition met/ },
  { args: ['rollout', 'history', 'deployment/web'], says: /REVISION/ },
  { args: ['rollout', 'undo', 'deployment/web'], says: /rolled back/ },
  { args: ['edit', 'configmap/settings'], env: { KUBE_EDITOR: 'sed -i s/green/yellow/' }, says: /edited/ },
  { args: ['replace', '-f', '-'], input: list(configMap({ color: 'white' })), says: /replaced/ },
  {
    args: ['debug', 'bench', `--image=${BUSYBOX}`, '--container=probe', '--profile=general', '--', ...shell('true')],
    says: /^$/,
  },
  { args: ['get', '--raw', '/api/v1/namespaces/NAMESPACE/nonsense'], code: 1, says: /NotFound/ },
  { args: ['delete', '-f', '-', '--wait'], input: WORKLOAD, says: /pod "bench" deleted/ },
];

/** A small chart's life; `CHART` is where it is. What each command says. */
export const HELM_COMMANDS: readonly (readonly [line: string, says: RegExp])[] = [
  ['install demo CHART --wait', /STATUS: deployed/],
  ['list', /small-1\.0\.0/],
  ['upgrade demo CHART --set color=blue --wait', /REVISION: 2/],
  ['get values demo', /color: blue/],
  ['get manifest demo', /kind.*Deployment/],
  ['test demo --logs', /the color is blue/],
  ['rollback demo 1 --wait', /Rollback was a success/],
  ['history demo', /Rollback to 1/],
  ['status demo --output=json', /"status":"deployed"/],
  ['uninstall demo --wait', /release "demo" uninstalled/],
];
