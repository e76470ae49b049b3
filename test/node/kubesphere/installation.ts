import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../cluster/eventually.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { BUSYBOX, REPOSITORY } from '../image/images.ts';
import { get, kubectl } from '../stand/kubectl.ts';
import { DEFINITION_NAMES, DEFINITIONS } from './definitions.ts';
import { OLD_NAMES, OLD_PEOPLE, userObjects } from './people.ts';

const SYSTEM = 'kubesphere-system';
const SHOP = 'shop-web';
const IAM = 'iam.kubesphere.io/v1alpha2';
const RBAC = 'rbac.authorization.k8s.io';
const WORKSPACE = { 'kubesphere.io/workspace': 'shop' };

/** Secrets of the old configuration; each is made up for a run. */
export const OLD_SECRETS = {
  jwt: randomBytes(16).toString('hex'),
  logStore: randomBytes(8).toString('hex'),
  harbor: randomBytes(8).toString('hex'),
};

const CONFIGURATION = `authentication:
  authenticateRateLimiterMaxTries: 10
  authenticateRateLimiterDuration: 10m0s
  loginHistoryRetentionPeriod: 168h
  maximumClockSkew: 10s
  multipleLogin: True
  kubectlImage: kubesphere/kubectl:v1.22.0
  jwtSecret: "${OLD_SECRETS.jwt}"
  oauthOptions:
    clients:
    - name: kubesphere
      secret: kubesphere
      redirectURIs:
      - '*'
    - name: harbor
      secret: ${OLD_SECRETS.harbor}
      grantMethod: auto
      redirectURIs:
      - https://harbor.example.test/callback
redis:
  host: redis.kubesphere-system.svc
  port: 6379
  db: 0
logging:
  host: http://elasticsearch-logging-data.kubesphere-logging-system.svc:9200
  indexPrefix: ks-logstash-log
  basicAuth: True
  username: reader
  password: ${OLD_SECRETS.logStore}
monitoring:
  endpoint: http://prometheus-operated.kubesphere-monitoring-system.svc:9090
notification:
  endpoint: http://notification-manager-svc.kubesphere-monitoring-system.svc:19093
`;

const CONSOLE = `server:
  http:
    hostname: localhost
    port: 8000
    static:
      production:
        /public: server/public
        /assets: dist/assets
        /dist: dist
  redis:
    port: 6379
    host: redis.kubesphere-system.svc
  redisTimeout: 5000
  sessionTimeout: 7200000
client:
  version:
    kubesphere: v3.4.1
    kubernetes: v1.22.0
  enableKubeConfig: true
defaultClusterName: default
`;

/** Stands in the place of the webhook of 3.4's controllers for users, and lets every write pass. */
const WEBHOOK = `
const { readFileSync } = require('node:fs');
const tls = { key: readFileSync('/tls/tls.key'), cert: readFileSync('/tls/tls.crt') };
require('node:https').createServer(tls, async (request, response) => {
  const { apiVersion, kind, request: asked } = JSON.parse(Buffer.concat(await request.toArray()));
  console.log(asked.operation + ' ' + asked.name + ' by ' + asked.userInfo.username);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, allowed: true } }));
}).listen(8443, () => console.log('listens'));
`;

const configMap = (name: string, data: object): object => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: SYSTEM }, data },
});

/** A Deployment of 3.4, which sleeps unless `container` says more. */
const deployment = (name: string, container: object = {}, volumes: readonly object[] = []): object => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace: SYSTEM, labels: { app: name } } },
  spec: {
    ...{ replicas: 1, selector: { matchLabels: { app: name } } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        ...{ serviceAccountName: 'kubesphere', terminationGracePeriodSeconds: 0, dnsPolicy: 'Default' },
        ...{ containers: [{ name, image: BUSYBOX, ...container }], volumes },
      },
    },
  },
});

const service = (name: string, port: number, targetPort: number): object => ({
  ...{ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: SYSTEM } },
  spec: { selector: { app: name }, ports: [{ port, targetPort }] },
});

const subject = (name: string): object => ({ apiGroup: RBAC, kind: 'User', name });

/** 3.4's bindings are labelled with the user. */
const binding = (kind: string, user: string, role: string, more: object = {}): object => ({
  apiVersion: kind.startsWith('Global') || kind.startsWith('Workspace') ? IAM : `${RBAC}/v1`,
  kind,
  metadata: { name: `${user}-${role}`, labels: { 'iam.kubesphere.io/user-ref': user }, ...more },
  subjects: [subject(user)],
});

const globalRole = (name: string, annotations: object, rules: readonly object[] = []): object => ({
  ...{ apiVersion: IAM, kind: 'GlobalRole', metadata: { name, annotations }, rules },
});

const EVERYTHING = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };

const GLOBAL_ROLES = [
  globalRole(
    'platform-admin',
    { 'iam.kubesphere.io/aggregation-roles': '["role-template-manage-users"]', 'kubesphere.io/creator': 'admin' },
    [EVERYTHING],
  ),
  globalRole('platform-regular', { 'kubesphere.io/creator': 'admin' }),
  globalRole('platform-self-provisioner', { 'kubesphere.io/creator': 'admin' }),
  globalRole('role-template-manage-users', { 'iam.kubesphere.io/role-template-rules': '{"users": "manage"}' }),
];

const globalBindings = OLD_NAMES.map((name) => {
  const role = OLD_PEOPLE[name].globalRole;
  return {
    ...binding('GlobalRoleBinding', name, role),
    roleRef: { apiGroup: IAM, kind: 'GlobalRole', name: role },
  };
});

const TENANTS = [
  { apiVersion: 'tenant.kubesphere.io/v1alpha1', kind: 'Workspace', metadata: { name: 'shop' }, spec: {} },
  {
    ...{ apiVersion: 'tenant.kubesphere.io/v1alpha2', kind: 'WorkspaceTemplate', metadata: { name: 'shop' } },
    spec: { template: { spec: { manager: 'admin' } } },
  },
  { apiVersion: IAM, kind: 'WorkspaceRole', metadata: { name: 'shop-viewer', labels: WORKSPACE }, rules: [] },
  {
    ...binding('WorkspaceRoleBinding', 'olivia', 'shop-viewer', { labels: WORKSPACE }),
    roleRef: { apiGroup: IAM, kind: 'WorkspaceRole', name: 'shop-viewer' },
  },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SHOP, labels: WORKSPACE } },
  {
    ...{ apiVersion: `${RBAC}/v1`, kind: 'Role', metadata: { name: 'operator', namespace: SHOP } },
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }],
  },
  {
    ...binding('RoleBinding', 'olivia', 'operator', { namespace: SHOP }),
    roleRef: { apiGroup: RBAC, kind: 'Role', name: 'operator' },
  },
  // A member of the cluster, whom 3.4 binds with the same label as Gatehouse does.
  {
    ...binding('ClusterRoleBinding', 'theo', 'view'),
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'view' },
  },
];

const RULE = { operations: ['CREATE', 'UPDATE'], apiGroups: ['iam.kubesphere.io'], apiVersions: ['v1alpha2'] };

async function servers(): Promise<readonly object[]> {
  const host = `ks-controller-manager.${SYSTEM}.svc`;
  const { cert, key } = selfSigned(host);
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../../package.json'), 'utf8'));
  const webhook = {
    image: `${REPOSITORY}:${version}`,
    command: ['/nodejs/bin/node', '-e', WEBHOOK],
    readinessProbe: { tcpSocket: { port: 8443 }, periodSeconds: 1 },
    volumeMounts: [{ name: 'tls', mountPath: '/tls' }],
  };
  const name = 'ks-controller-manager-webhook-cert';
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'kubesphere', namespace: SYSTEM } },
    {
      ...{ apiVersion: `${RBAC}/v1`, kind: 'ClusterRoleBinding', metadata: { name: 'kubesphere' } },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'kubesphere', namespace: SYSTEM }],
    },
    configMap('kubesphere-config', { 'kubesphere.yaml': CONFIGURATION }),
    configMap('ks-console-config', { 'local_config.yaml': CONSOLE }),
    {
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: SYSTEM } },
      stringData: { 'tls.crt': cert, 'tls.key': key },
    },
    deployment('ks-apiserver'),
    deployment('ks-console'),
    deployment('ks-controller-manager', webhook, [{ name: 'tls', secret: { secretName: name } }]),
    service('ks-apiserver', 80, 9090),
    service('ks-console', 80, 8000),
    service('ks-controller-manager', 443, 8443),
    {
      ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' },
      metadata: { name: 'users.iam.kubesphere.io' },
      webhooks: [
        {
          ...{ name: 'users.iam.kubesphere.io', admissionReviewVersions: ['v1beta1'], sideEffects: 'None' },
          ...{ failurePolicy: 'Fail', matchPolicy: 'Exact', timeoutSeconds: 30 },
          rules: [{ ...RULE, resources: ['users'], scope: '*' }],
          clientConfig: {
            caBundle: Buffer.from(cert).toString('base64'),
            service: { name: 'ks-controller-manager', namespace: SYSTEM, path: '/validate-email', port: 443 },
          },
        },
      ],
    },
  ];
}

const apply = (items: readonly object[]): Promise<string> =>
  kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));

/** A cluster in which a KubeSphere 3.4 was installed: its objects, written after its chart `config/ks-core` and its controllers. */
export async function installKubeSphere(): Promise<void> {
  await apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM } }, ...DEFINITIONS]);
  await kubectl(['wait', '--for=condition=Established', ...DEFINITION_NAMES]);
  await apply(await servers());
  for (const name of ['ks-apiserver', 'ks-console', 'ks-controller-manager'])
    await kubectl(['-n', SYSTEM, 'rollout', 'status', `deployment/${name}`]);
  await apply(GLOBAL_ROLES);
  await apply(globalBindings);
  await apply(TENANTS);
  await apply(await clusterAdmins());
  const users = await userObjects();
  // kube-proxy leads to the webhook a moment after its pod is ready.
  await eventually(
    () =>
      apply(users).then(
        () => true,
        () => false,
      ),
    (isDone) => isDone,
  );
}

/** 3.4's controller lets each platform-admin do everything in the cluster, by bindings that its own bindings own. */
async function clusterAdmins(): Promise<readonly object[]> {
  const admins = OLD_NAMES.filter((name) => OLD_PEOPLE[name].globalRole === 'platform-admin');
  return Promise.all(
    admins.map(async (name) => {
      const owner = await get<{ metadata: { name: string; uid: string } }>(
        ...['globalrolebindings.iam.kubesphere.io', `${name}-platform-admin`],
      );
      const { uid } = owner.metadata;
      const reference = {
        apiVersion: IAM,
        kind: 'GlobalRoleBinding',
        name: owner.metadata.name,
        uid,
        controller: true,
      };
      return {
        ...{ apiVersion: `${RBAC}/v1`, kind: 'ClusterRoleBinding' },
        metadata: { name: `${name}-cluster-admin`, ownerReferences: [reference] },
        ...{ subjects: [subject(name)], roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' } },
      };
    }),
  );
}

/** Removes all of it, whatever is there. */
export async function removeKubeSphere(): Promise<void> {
  const remove = (...args: readonly string[]) => kubectl(['delete', '--ignore-not-found', ...args]);
  await remove('validatingwebhookconfiguration', 'users.iam.kubesphere.io');
  await kubectl(['get', 'users.iam.kubesphere.io', '-o', 'name', '--ignore-not-found'])
    .catch(() => '')
    .then((names) =>
      Promise.all(
        names
          .split('\n')
          .filter((name) => name !== '')
          .map((name) => kubectl(['patch', name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}'])),
      ),
    );
  await remove('clusterrolebinding', 'kubesphere', 'theo-view', 'admin-cluster-admin', 'paula-cluster-admin');
  await remove(...DEFINITION_NAMES);
  await remove('namespace', SYSTEM, SHOP);
}
