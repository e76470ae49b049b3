import type { ClusterKind } from '../../kubernetes/discovery/cluster-kind.ts';
import { AUTOSCALER_WORDS } from './autoscaler-words.ts';
import { BINDING_WORDS } from './binding-words.ts';
import { DEFINITION_WORDS } from './definition-words.ts';
import { CRON_JOB_WORDS, JOB_WORDS } from './job-words.ts';
import { type KindWords, PLAIN_WORDS, type WordsContext } from './kind-words.ts';
import { podWords } from './pod-words.ts';
import { QUOTA_WORDS } from './quota-words.ts';
import { roleWords } from './role-words.ts';
import { SERVICE_WORDS } from './service-words.ts';
import { sliceWords } from './slice-words.ts';
import { VOLUME_SNAPSHOT_CLASS_WORDS, VOLUME_SNAPSHOT_CONTENT_WORDS, VOLUME_SNAPSHOT_WORDS } from './snapshot-words.ts';
import { isSystemNamespace } from './system-namespaces.ts';
import { CLAIM_WORDS, VOLUME_WORDS } from './volume-words.ts';
import { DAEMON_SET_WORDS, DEPLOYMENT_WORDS, STATEFUL_SET_WORDS } from './workload-words.ts';

type Words = (context: WordsContext) => KindWords;

/** By `resource.group`. All other kinds have no words of their own. */
const WORDS: ReadonlyMap<string, Words> = new Map<string, Words>([
  ['pods.', podWords],
  ['services.', () => SERVICE_WORDS],
  ['persistentvolumes.', () => VOLUME_WORDS],
  ['persistentvolumeclaims.', () => CLAIM_WORDS],
  ['deployments.apps', () => DEPLOYMENT_WORDS],
  ['statefulsets.apps', () => STATEFUL_SET_WORDS],
  ['daemonsets.apps', () => DAEMON_SET_WORDS],
  ['jobs.batch', () => JOB_WORDS],
  ['cronjobs.batch', () => CRON_JOB_WORDS],
  ['horizontalpodautoscalers.autoscaling', () => AUTOSCALER_WORDS],
  ['customresourcedefinitions.apiextensions.k8s.io', () => DEFINITION_WORDS],
  ['roles.rbac.authorization.k8s.io', roleWords],
  ['clusterroles.rbac.authorization.k8s.io', roleWords],
  ['volumesnapshots.snapshot.storage.k8s.io', () => VOLUME_SNAPSHOT_WORDS],
  ['volumesnapshotclasses.snapshot.storage.k8s.io', () => VOLUME_SNAPSHOT_CLASS_WORDS],
  ['volumesnapshotcontents.snapshot.storage.k8s.io', () => VOLUME_SNAPSHOT_CONTENT_WORDS],
  ['rolebindings.rbac.authorization.k8s.io', () => BINDING_WORDS],
  ['clusterrolebindings.rbac.authorization.k8s.io', () => BINDING_WORDS],
  ['resourcequotas.', () => QUOTA_WORDS],
  [
    'endpointslices.discovery.k8s.io',
    ({ platform }) => sliceWords((namespace) => isSystemNamespace(namespace, platform)),
  ],
]);

/** The words of a kind, which is known by its group and its plural, in any version. */
export const wordsOf = (
  { group, resource }: Pick<ClusterKind, 'group' | 'resource'>,
  context: WordsContext,
): KindWords => {
  const name = `${resource}.${group}`;
  if (name === `workspacerolebindings.iam.${context.platform}.io`) return BINDING_WORDS;
  return WORDS.get(name)?.(context) ?? PLAIN_WORDS;
};
