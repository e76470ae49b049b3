import { beforeAll, describe, expect, test } from 'vitest';
import type { Json } from './api-client.ts';
import type { Suite } from './suite.ts';

const TABLE = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } };

/** The columns after the name; in brackets those of `-o wide`; a type other than string is named. */
const COLUMNS = `
/api/v1/pods: Ready, Status, Restarts, Age, [IP], [Node], [Nominated Node], [Readiness Gates]
/api/v1/services: Type, Cluster-IP, External-IP, Port(s), Age, [Selector]
/api/v1/configmaps: Data, Age
/api/v1/secrets: Type, Data, Age
/api/v1/serviceaccounts: Secrets, Age
/api/v1/namespaces: Status, Age
/api/v1/nodes: Status, Roles, Age, Version, [Internal-IP], [External-IP], [OS-Image], [Kernel-Version], [Container-Runtime]
/api/v1/replicationcontrollers: Desired integer, Current integer, Ready integer, Age, [Containers], [Images], [Selector]
/api/v1/limitranges: Created At date
/api/v1/persistentvolumeclaims: Status, Volume, Capacity, Access Modes, StorageClass, VolumeAttributesClass, Age, [VolumeMode]
/api/v1/persistentvolumes: Capacity, Access Modes, Reclaim Policy, Status, Claim, StorageClass, VolumeAttributesClass, Reason, Age, [VolumeMode]
/apis/apps/v1/deployments: Ready, Up-to-date, Available, Age, [Containers], [Images], [Selector]
/apis/apps/v1/statefulsets: Ready, Age, [Containers], [Images]
/apis/apps/v1/daemonsets: Desired integer, Current integer, Ready integer, Up-to-date integer, Available integer, Node Selector, Age, [Containers], [Images], [Selector]
/apis/apps/v1/replicasets: Desired integer, Current integer, Ready integer, Age, [Containers], [Images], [Selector]
/apis/batch/v1/jobs: Status, Completions, Duration, Age, [Containers], [Images], [Selector]
/apis/batch/v1/cronjobs: Schedule, Timezone, Suspend boolean, Active integer, Last Schedule, Age, [Containers], [Images], [Selector]
/apis/coordination.k8s.io/v1/leases: Holder, Age
/apis/rbac.authorization.k8s.io/v1/roles: Created At date
/apis/rbac.authorization.k8s.io/v1/clusterroles: Created At date
/apis/apiextensions.k8s.io/v1/customresourcedefinitions: Created At date`
  .trim()
  .split('\n')
  .map((line) => line.split(': ') as [string, string]);

const shown = ({ name, type, priority }: Json): string => {
  const full = `${name}${type === 'string' ? '' : ` ${type}`}`;
  return priority === 1 ? `[${full}]` : full;
};

/** Tables as kubectl prints them. */
export function describeTables(suite: Suite): void {
  describe('a Table', () => {
    let namespace: string;
    beforeAll(async () => {
      namespace = await suite.api.newNamespace();
    });
    const labels = { app: 'a', tier: 'b' };
    const template = {
      metadata: { labels },
      spec: {
        containers: [
          { name: 'one', image: 'example.test/one:1' },
          { name: 'two', image: 'example.test/two:1' },
        ],
      },
    };
    const age = expect.stringMatching(/^\d+[sm]/);

    /** Creates an object and sets its status. Resolves to the cells of its row after the name. */
    async function cellsOf(root: string, plural: string, object: Json, status?: Json): Promise<Json> {
      const collection = `${root}/namespaces/${namespace}/${plural}`;
      const { metadata } = await suite.api.create(collection, {
        metadata: { name: 'shown', ...object.metadata },
        ...object,
      });
      const path = `${collection}/${metadata.name}`;
      if (status) expect((await suite.api.patch(`${path}/status`, { status })).status).toBe(200);
      return (await suite.api.get(path, TABLE)).body.rows[0].cells.slice(1);
    }

    test.each(COLUMNS)('of %s has the columns %s', async (path, columns) => {
      const { body } = await suite.api.get(path, TABLE);
      const [name, ...others] = body.columnDefinitions;
      expect(name).toMatchObject({ name: 'Name', type: 'string', format: 'name' });
      expect(others.map(shown).join(', ')).toBe(columns);
    });

    test('of a pod counts containers and restarts, and says why a container waits', async () => {
      const spec = { ...template.spec, nodeName: 'n' };
      const image = 'example.test/one:1';
      const running = { ready: true, started: true, restartCount: 0, state: { running: {} } };
      const waiting = {
        ready: false,
        started: false,
        restartCount: 3,
        state: { waiting: { reason: 'CrashLoopBackOff' } },
      };
      const containerStatuses = [
        { name: 'one', image, imageID: '', ...running },
        { name: 'two', image, imageID: '', ...waiting },
      ];
      const status = { phase: 'Running', podIP: '192.0.2.7', podIPs: [{ ip: '192.0.2.7' }], containerStatuses };
      expect(await cellsOf('/api/v1', 'pods', { spec }, status)).toEqual([
        ...['1/2', 'CrashLoopBackOff', '3', age],
        ...['192.0.2.7', 'n', '<none>', '<none>'],
      ]);
    });

    test('of a pod that is done says Completed', async () => {
      const state = { terminated: { exitCode: 0, reason: 'Completed' } };
      const one = { name: 'one', image: 'i', imageID: '', ready: false, started: false, restartCount: 0, state };
      const status = { phase: 'Succeeded', containerStatuses: [one] };
      const metadata = { name: 'done' };
      const cells = await cellsOf('/api/v1', 'pods', { metadata, spec: template.spec }, status);
      expect(cells.slice(0, 3)).toEqual(['0/2', 'Completed', '0']);
    });

    test('of a deployment counts its pods', async () => {
      const spec = { replicas: 3, selector: { matchLabels: labels }, template };
      const status = { replicas: 3, readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 };
      expect(await cellsOf('/apis/apps/v1', 'deployments', { spec }, status)).toEqual([
        ...['1/3', 2, 1, age, 'one,two', 'example.test/one:1,example.test/two:1', 'app=a,tier=b'],
      ]);
    });

    test('of a stateful set and of a daemon set counts theirs', async () => {
      const selector = { matchLabels: labels };
      const stateful = { serviceName: 's', replicas: 2, selector, template };
      const cells = await cellsOf(
        '/apis/apps/v1',
        'statefulsets',
        { spec: stateful },
        { replicas: 2, readyReplicas: 2 },
      );
      expect(cells.slice(0, 2)).toEqual(['2/2', age]);
      const numbers = { currentNumberScheduled: 4, desiredNumberScheduled: 5, numberMisscheduled: 0, numberReady: 3 };
      const status = { ...numbers, updatedNumberScheduled: 2, numberAvailable: 1 };
      const daemons = await cellsOf('/apis/apps/v1', 'daemonsets', { spec: { selector, template } }, status);
      expect(daemons.slice(0, 7)).toEqual([5, 4, 3, 2, 1, '<none>', age]);
    });

    test('of a claim says what it has', async () => {
      const resources = { requests: { storage: '1Gi' } };
      const accessModes = ['ReadWriteOnce', 'ReadOnlyMany'];
      const spec = { accessModes, resources, storageClassName: 'fast', volumeName: 'v', volumeMode: 'Filesystem' };
      const status = { phase: 'Bound', accessModes, capacity: { storage: '2Gi' } };
      expect(await cellsOf('/api/v1', 'persistentvolumeclaims', { spec }, status)).toEqual([
        ...['Bound', 'v', '2Gi', 'RWO,ROX', 'fast', '<unset>', age, 'Filesystem'],
      ]);
    });

    test('of a cron job says when it runs', async () => {
      const jobTemplate = { spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } } };
      const spec = { schedule: '0 2 * * *', timeZone: 'Etc/UTC', suspend: true, jobTemplate };
      const cells = await cellsOf('/apis/batch/v1', 'cronjobs', { spec });
      expect(cells.slice(0, 8)).toEqual([
        ...['0 2 * * *', 'Etc/UTC', 'True', 0, '<none>', age, 'one,two', 'example.test/one:1,example.test/two:1'],
      ]);
    });
  });
}
