import { describe, expect, test } from 'vitest';
import type { Answer, Json } from './api-client.ts';
import type { Suite } from './suite.ts';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const METADATA = 'application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadataList';
const TABLE = 'application/json;g=meta.k8s.io;v=v1;as=Table';

/** Kinds of a cluster: group version, plural, kind, singular name, short names; `*` marks those without namespaces. */
const KINDS = `
v1 configmaps ConfigMap configmap cm
v1 endpoints Endpoints endpoints ep
v1 events Event event ev
v1 limitranges LimitRange limitrange limits
v1 namespaces* Namespace namespace ns
v1 nodes* Node node no
v1 persistentvolumeclaims PersistentVolumeClaim persistentvolumeclaim pvc
v1 persistentvolumes* PersistentVolume persistentvolume pv
v1 pods Pod pod po
v1 replicationcontrollers ReplicationController replicationcontroller rc
v1 resourcequotas ResourceQuota resourcequota quota
v1 secrets Secret secret
v1 serviceaccounts ServiceAccount serviceaccount sa
v1 services Service service svc
apiregistration.k8s.io/v1 apiservices* APIService apiservice
apps/v1 controllerrevisions ControllerRevision controllerrevision
apps/v1 daemonsets DaemonSet daemonset ds
apps/v1 deployments Deployment deployment deploy
apps/v1 replicasets ReplicaSet replicaset rs
apps/v1 statefulsets StatefulSet statefulset sts
events.k8s.io/v1 events Event event ev
autoscaling/v2 horizontalpodautoscalers HorizontalPodAutoscaler horizontalpodautoscaler hpa
batch/v1 cronjobs CronJob cronjob cj
batch/v1 jobs Job job
networking.k8s.io/v1 ingressclasses* IngressClass ingressclass
networking.k8s.io/v1 ingresses Ingress ingress ing
networking.k8s.io/v1 networkpolicies NetworkPolicy networkpolicy netpol
policy/v1 poddisruptionbudgets PodDisruptionBudget poddisruptionbudget pdb
rbac.authorization.k8s.io/v1 clusterrolebindings* ClusterRoleBinding clusterrolebinding
rbac.authorization.k8s.io/v1 clusterroles* ClusterRole clusterrole
rbac.authorization.k8s.io/v1 rolebindings RoleBinding rolebinding
rbac.authorization.k8s.io/v1 roles Role role
storage.k8s.io/v1 csidrivers* CSIDriver csidriver
storage.k8s.io/v1 storageclasses* StorageClass storageclass sc
storage.k8s.io/v1 volumeattachments* VolumeAttachment volumeattachment
apiextensions.k8s.io/v1 customresourcedefinitions* CustomResourceDefinition customresourcedefinition crd,crds
scheduling.k8s.io/v1 priorityclasses* PriorityClass priorityclass pc
coordination.k8s.io/v1 leases Lease lease
discovery.k8s.io/v1 endpointslices EndpointSlice endpointslice`
  .trim()
  .split('\n')
  .map((line) => {
    const [groupVersion = '', plural = '', kind = '', singular = '', short] = line.split(' ');
    const [group = '', version] = groupVersion.includes('/') ? groupVersion.split('/') : ['', groupVersion];
    const root = `/${group === '' ? 'api' : 'apis'}/${groupVersion}`;
    const namespaced = !plural.endsWith('*');
    const shortNames = short === undefined ? [] : short.split(',');
    return { root, group, version, plural: plural.replace('*', ''), kind, singular, namespaced, shortNames };
  });

/** What the simulated cluster leaves out. */
const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
const withoutCollection = (verbs: readonly string[]): readonly string[] =>
  verbs.filter((verb) => verb !== 'deletecollection').toSorted();

export function describeDiscovery(suite: Suite): void {
  describe('discovery', () => {
    const aggregated = (path: string, headers = {}): Promise<Answer> =>
      suite.api.get(path, { headers: { accept: AGGREGATED, ...headers } });

    test('of each group version lists the kinds of a cluster', async () => {
      const roots = new Map<string, Json>();
      for (const root of new Set(KINDS.map((one) => one.root))) roots.set(root, (await suite.api.get(root)).body);
      for (const { root, plural, kind, singular, namespaced, shortNames } of KINDS) {
        const {
          verbs,
          shortNames: short = [],
          ...found
        } = roots.get(root).resources.find(({ name }: Json) => name === plural);
        expect(found).toMatchObject({ name: plural, singularName: singular, namespaced, kind });
        expect([plural, short]).toEqual([plural, shortNames]);
        expect([plural, withoutCollection(verbs)]).toEqual([plural, VERBS]);
      }
    });

    test('in one answer says of each kind the same', async () => {
      const answers = [await aggregated('/api'), await aggregated('/apis')];
      const groups = answers.flatMap(({ body }) => body.items);
      for (const { group, version, plural, kind, singular, namespaced, shortNames } of KINDS) {
        const ofGroup = groups.find(({ metadata }: Json) => (metadata.name ?? '') === group);
        const served = ofGroup.versions.find((one: Json) => one.version === version);
        expect(served.freshness).toBe('Current');
        const found = served.resources.find(({ resource }: Json) => resource === plural);
        expect(found).toMatchObject({
          responseKind: { group: '', version: '', kind },
          scope: namespaced ? 'Namespaced' : 'Cluster',
          singularResource: singular,
        });
        expect([plural, found.shortNames ?? []]).toEqual([plural, shortNames]);
        expect([plural, withoutCollection(found.verbs)]).toEqual([plural, VERBS]);
      }
    });

    test('in one answer lists the subresources, with the kind of another group', async () => {
      const { body } = await aggregated('/api');
      const pods = body.items[0].versions[0].resources.find(({ resource }: Json) => resource === 'pods');
      const named = (name: string): Json => pods.subresources.find(({ subresource }: Json) => subresource === name);
      expect(pods.categories).toEqual(['all']);
      expect(named('status')).toEqual({
        subresource: 'status',
        responseKind: { group: '', version: '', kind: 'Pod' },
        verbs: ['get', 'patch', 'update'],
      });
      expect(named('eviction').responseKind).toEqual({ group: 'policy', version: 'v1', kind: 'Eviction' });
    });

    test('in one answer has a type and an ETag, and is not sent to a client that has it', async () => {
      const { status, headers, body } = await aggregated('/apis');
      expect([status, headers['content-type'], headers['vary'], headers['cache-control']]).toEqual([
        200,
        AGGREGATED,
        'Accept',
        'public',
      ]);
      expect(body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {} });
      const known = { 'if-none-match': String(headers['etag']) };
      const again = await aggregated('/apis', known);
      expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', headers['etag']]);
      expect((await aggregated('/api', known)).status).toBe(200);
    });

    test('in one answer is one form of several; a version that is not served is passed over', async () => {
      const unknown = AGGREGATED.replace('v=v2', 'v=v9');
      const kindFor = async (path: string, accept: string): Promise<[number, string]> => {
        const { status, body } = await suite.api.get(path, { headers: { accept } });
        return [status, body.kind];
      };
      expect(await kindFor('/apis', `${unknown},${AGGREGATED},application/json`)).toEqual([
        200,
        'APIGroupDiscoveryList',
      ]);
      expect(await kindFor('/apis', `${unknown},application/json`)).toEqual([200, 'APIGroupList']);
      expect(await kindFor('/api', `application/json,${AGGREGATED}`)).toEqual([200, 'APIGroupDiscoveryList']);
      expect(await kindFor('/apis', unknown)).toEqual([406, 'Status']);
      expect(await kindFor('/api/v1', AGGREGATED)).toEqual([406, 'Status']);
      expect(await kindFor('/apis/apps', AGGREGATED)).toEqual([406, 'Status']);
    });

    test('names groups in the order of their priority', async () => {
      const { body } = await suite.api.get('/apis');
      const groups = body.groups.map(({ name }: Json) => name);
      const known = [...new Set(KINDS.map(({ group }) => group))].filter((group) => group !== '');
      expect(groups.filter((group: string) => known.includes(group))).toEqual(known);
      const { body: inOne } = await aggregated('/apis');
      expect(inOne.items.map(({ metadata }: Json) => metadata.name)).toEqual(groups);
    });

    test.each(KINDS.map((one) => [`${one.root}/${one.plural}`, one] as const))(
      '%s is a list, in every form',
      async (path, { kind }) => {
        const kindAs = async (accept: string): Promise<string> =>
          (await suite.api.get(path, { headers: { accept } })).body.kind;
        expect(await kindAs('application/json')).toBe(`${kind}List`);
        expect(await kindAs(METADATA)).toBe('PartialObjectMetadataList');
        expect(await kindAs(TABLE)).toBe('Table');
      },
    );
  });
}
