import { describe, expect, test } from 'vitest';
import { render } from './helm.ts';

const tls = { existingSecret: 'certificate' };
const digest = `sha256:${'a'.repeat(64)}`;
const shared = { store: 'kubernetes' };
const clients = [{ name: 'console', secretFile: '/var/run/secrets/clients/console' }];

const CERTIFICATES = { apiGroups: ['cert-manager.io'], resources: ['certificates'] };

/** What is wrong, the values, and the sentence that Helm ends with. */
const ROWS: readonly (readonly [string, object, string])[] = [
  [
    'rules for kinds where none are listed',
    { kinds: { extraRules: [CERTIFICATES] }, config: { kinds: { enabled: false } } },
    'kinds.extraRules is set, but config.kinds.enabled is false: nothing would use these rights; leave one of them out.',
  ],
  [
    'every right where no kinds are listed',
    { kinds: { rights: 'all' }, config: { kinds: { enabled: false } } },
    'kinds.rights is all, but config.kinds.enabled is false: nothing would use these rights; leave one of them out.',
  ],
  [
    'rules for kinds where none are granted',
    { kinds: { rights: 'none', extraRules: [CERTIFICATES] } },
    'kinds.extraRules is set, but kinds.rights is none, which grants nothing; set kinds.rights to named, or leave the rules out.',
  ],
  [
    'rules for kinds where somebody else grants',
    { kinds: { extraRules: [CERTIFICATES] }, rbac: { create: false } },
    'kinds.extraRules is set, but rbac.create is false: the chart grants nothing; set rbac.create to true, or grant the rights yourself.',
  ],
  [
    'rules for kinds of every group',
    { kinds: { extraRules: [{ apiGroups: ['*'], resources: ['*'] }] } },
    'kinds.extraRules has * among its apiGroups, which is every resource of that name, present and future; name the groups, or set kinds.rights to all.',
  ],
  [
    'rules for every resource of the core group',
    { kinds: { extraRules: [{ apiGroups: ['a.io', ''], resources: ['*'] }] } },
    'kinds.extraRules has * among its resources of the core group, which covers pods/exec and Secrets; name the resources.',
  ],
  [
    'lists of Secrets without the right to list them',
    { config: { kinds: { secrets: 'metadata' } } },
    "config.kinds.secrets is metadata, but the service account may not list Secrets. Kubernetes knows no right to metadata alone, so the right covers every password of the cluster: add {apiGroups: [''], resources: [secrets], verbs: [list, watch]} to kinds.extraRules if you want that, or leave config.kinds.secrets out.",
  ],
  [
    'more memory for kinds than the container has',
    { config: { kinds: { memory: '600M' } } },
    'config.kinds.memory is 600M, but resources.limits.memory is 512Mi: the container would be killed before the kinds have that much; raise the limit by as much as the kinds get, or lower config.kinds.memory.',
  ],
  [
    'a right to Secrets that nothing uses',
    { kinds: { extraRules: [{ apiGroups: [''], resources: ['secrets'] }] } },
    'kinds.extraRules has secrets, but config.kinds.secrets is none: Gatehouse would not use a right that covers every password of the cluster; set config.kinds.secrets to metadata, or leave the rule out.',
  ],
  [
    'a name that no Service can have',
    { fullnameOverride: '1st' },
    'the name "1st" of the objects begins with no letter, but the name of a Service must; set fullnameOverride, or choose another name for the release.',
  ],
  [
    'a pod that runs as root',
    { podSecurityContext: { runAsUser: 0 } },
    'podSecurityContext.runAsUser is 0, which is root: the cluster would start no such pod, since runAsNonRoot is true; set another user, or null where the cluster assigns one.',
  ],
  [
    'a container that runs as root',
    { containerSecurityContext: { runAsUser: 0 } },
    'containerSecurityContext.runAsUser is 0, which is root: the cluster would start no such pod, since runAsNonRoot is true; set another user, or null where the cluster assigns one.',
  ],
  [
    'a container that may run as root',
    { containerSecurityContext: { runAsNonRoot: false } },
    "containerSecurityContext.runAsNonRoot is false: Gatehouse needs no root, and the pod's security context refuses it; leave it out.",
  ],
  [
    'a capability',
    { containerSecurityContext: { capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } } },
    'containerSecurityContext.capabilities.add has NET_ADMIN: Gatehouse needs no capability; leave it out.',
  ],
  [
    'a tag beside a digest',
    { image: { tag: '0.2.0', digest } },
    'image.tag is "0.2.0", but image.digest is set too, and the digest alone decides which image runs; set one of them to an empty text.',
  ],
  [
    'a class of load balancers without a load balancer',
    { service: { loadBalancerClass: 'internal' } },
    'service.loadBalancerClass is set, but service.type is NodePort; set service.type to LoadBalancer or leave service.loadBalancerClass out.',
  ],
  [
    'address ranges of a load balancer that there is not',
    { service: { type: 'ClusterIP', loadBalancerSourceRanges: ['192.0.2.0/24'] } },
    'service.loadBalancerSourceRanges is set, but service.type is ClusterIP; set service.type to LoadBalancer or leave service.loadBalancerSourceRanges out.',
  ],
  [
    'an Ingress without a host',
    { ingress: { enabled: true } },
    'ingress.enabled is true, but ingress.hosts is empty: an Ingress without a host would take every request of its controller; name the hosts.',
  ],
  [
    'a certificate for a host that the Ingress does not have',
    { ingress: { enabled: true, hosts: ['a.example.com'], tls: [{ hosts: ['b.example.com'] }] } },
    'ingress.tls names the host "b.example.com", which ingress.hosts does not have; add it there or leave it out.',
  ],
  [
    'an HTTPRoute without a Gateway',
    { httpRoute: { enabled: true } },
    'httpRoute.enabled is true, but httpRoute.parentRefs is empty: no Gateway would serve the route; name the Gateways.',
  ],
  [
    'a ServiceMonitor without the Service that it looks for',
    { metrics: { service: false, serviceMonitor: { enabled: true } } },
    'metrics.serviceMonitor.enabled is true, but metrics.service is false: a ServiceMonitor finds the pods through that Service; set both, or use metrics.podMonitor.',
  ],
  [
    'two monitors',
    { metrics: { serviceMonitor: { enabled: true }, podMonitor: { enabled: true } } },
    'metrics.serviceMonitor.enabled and metrics.podMonitor.enabled are both true: each sample would be scraped twice; set one of them to false.',
  ],
  [
    'a monitor that speaks HTTP to a port that speaks HTTPS',
    { tls, metrics: { podMonitor: { enabled: true, scheme: 'http' } } },
    'metrics.podMonitor.scheme is http, but the metrics port speaks https, as tls.existingSecret decides; leave metrics.podMonitor.scheme out.',
  ],
  [
    'a monitor that cannot check the certificate',
    { tls, metrics: { serviceMonitor: { enabled: true } } },
    'metrics.serviceMonitor.tlsConfig is empty, but tls.existingSecret makes the metrics port speak HTTPS, and a certificate is never made out for the addresses of pods: set serverName to a name in the certificate, and ca where no public authority signed it.',
  ],
  [
    'a monitor that checks a certificate where there is none',
    { metrics: { serviceMonitor: { enabled: true, tlsConfig: { serverName: 'g.example.com' } } } },
    'metrics.serviceMonitor.tlsConfig is set, but the metrics port speaks HTTP; set tls.existingSecret or leave metrics.serviceMonitor.tlsConfig out.',
  ],
  [
    'a budget with both limits',
    { podDisruptionBudget: { minAvailable: '50%', maxUnavailable: 1 } },
    'podDisruptionBudget.minAvailable and podDisruptionBudget.maxUnavailable are both set, but a budget can have one of them only; set one of them to an empty text.',
  ],
  [
    'a budget that lets no replica go',
    { podDisruptionBudget: { minAvailable: 1 } },
    'podDisruptionBudget.minAvailable is 1 and replicaCount is 1: no replica could ever be evicted, so no drain of its node would end; lower minAvailable, or use maxUnavailable.',
  ],
  [
    'a budget of nothing',
    { podDisruptionBudget: { maxUnavailable: 0 } },
    'podDisruptionBudget.maxUnavailable is 0: no replica could ever be evicted, so no drain of its node would end; set 1 or more, or podDisruptionBudget.enabled to false.',
  ],
  [
    'a rollout that cannot begin',
    { updateStrategy: { rollingUpdate: { maxSurge: 0 } } },
    'updateStrategy.rollingUpdate.maxSurge and updateStrategy.rollingUpdate.maxUnavailable are both 0: no rollout could begin; raise one of them.',
  ],
  [
    'a service account that nobody names',
    { serviceAccount: { create: false } },
    'serviceAccount.create is false, but serviceAccount.name is empty: name the service account that the pods use.',
  ],
  [
    'a label that selectors use',
    { podLabels: { 'app.kubernetes.io/name': 'x' } },
    'podLabels has the label app.kubernetes.io/name, which the chart sets itself; choose another label.',
  ],
  [
    'a label twice',
    { commonLabels: { team: 'a' }, podLabels: { team: 'b' } },
    'podLabels has the label team, and so has commonLabels; set it in one of them.',
  ],
  [
    'a label of the dashboard twice',
    { commonLabels: { team: 'a' }, dashboard: { enabled: true, labels: { team: 'b' } } },
    'dashboard.labels has the label team, and so has commonLabels; set it in one of them.',
  ],
  [
    'an annotation that the chart writes',
    { podAnnotations: { 'prometheus.io/scrape': 'false' } },
    'podAnnotations has prometheus.io/scrape, which the chart sets itself; set metrics.annotations to false to write your own.',
  ],
  [
    'a variable that the chart sets',
    { extraEnv: [{ name: 'NODE_OPTIONS', value: '' }] },
    'extraEnv has NODE_OPTIONS, which the chart sets itself.',
  ],
  [
    'a variable twice',
    {
      extraEnv: [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
      ],
    },
    'extraEnv has A, which it has already.',
  ],
  [
    'a volume with a name of the chart’s',
    { extraVolumes: [{ name: 'tmp', emptyDir: {} }] },
    'extraVolumes has a volume "tmp", but the pod has one of that name already; choose another name.',
  ],
  [
    'a mount of a volume that there is not',
    { extraVolumeMounts: [{ name: 'clients', mountPath: '/clients' }] },
    'extraVolumeMounts mounts the volume "clients", which extraVolumes does not have; add it there.',
  ],
  [
    'a mount over one of the chart’s',
    {
      extraVolumes: [{ name: 'more', emptyDir: {} }],
      extraVolumeMounts: [{ name: 'more', mountPath: '/etc/gatehouse/' }],
    },
    'extraVolumeMounts mounts "more" at /etc/gatehouse/, where the chart mounts a volume of its own; choose another path.',
  ],
  [
    'a file of a client that no volume has',
    { config: { authentication: { oauthOptions: { clients } } } },
    'config.authentication.oauthOptions.clients[0].secretFile is "/var/run/secrets/clients/console", which is in no volume of the pod; mount it with extraVolumes and extraVolumeMounts.',
  ],
  [
    'certificate authorities that no volume has',
    { tls, config: { authentication: { tokenReview: { clientCAFile: '/etc/ca.crt', clientNames: ['a'] } } } },
    'config.authentication.tokenReview.clientCAFile is "/etc/ca.crt", which is in no volume of the pod; mount it with extraVolumes and extraVolumeMounts.',
  ],
  [
    'client certificates without TLS',
    { config: { authentication: { tokenReview: { clientCAFile: '/tmp/ca.crt', clientNames: ['a'] } } } },
    'config.authentication.tokenReview.clientCAFile is set, but tls.existingSecret is empty: without TLS no caller can show a client certificate; set tls.existingSecret or tls.certManager.issuerRef.',
  ],
  [
    'client certificates of nobody',
    { tls, config: { authentication: { tokenReview: { clientCAFile: '/tmp/ca.crt' } } } },
    'config.authentication.tokenReview.clientCAFile is set, but config.authentication.tokenReview.clientNames is empty: name the certificate holders that may ask.',
  ],
  [
    'a client’s Secret that no client reads',
    {
      oauth: { client: { existingSecret: 'console' } },
      config: {
        authentication: {
          oauthOptions: { clients: [{ name: 'console', public: true, grantTypes: ['refresh_token'] }] },
        },
      },
    },
    'oauth.client.existingSecret is set, but config.authentication.oauthOptions.clients lists other clients, so nothing reads that Secret; give one of them secretFile: /var/run/secrets/gatehouse/oauth-client/secret, or leave oauth.client.existingSecret out.',
  ],
  [
    'a first administrator that is only true',
    { config: { users: { firstAdministrator: true } } },
    'config.users.firstAdministrator is true: there is a first administrator unless it is false; leave it out, or give name, groups or secretName.',
  ],
  [
    'replicas that stop before the cluster has noticed',
    { replicaCount: 2, sessions: shared, config: { server: { shutdownDelay: '4s' } } },
    "config.server.shutdownDelay is 4s with 2 replicas: the others get a replica's requests only after the cluster has learned that it stops, which takes seconds; set 5s or more, or allow.shortShutdownDelay to true.",
  ],
  [
    'two settings for accounts',
    { accounts: { enabled: true }, config: { accounts: { enabled: false } } },
    "config.accounts.enabled is not for the chart's config: set the value accounts.enabled instead.",
  ],
  [
    'hashes in objects whose definition does not have them',
    { accounts: { enabled: true }, config: { accounts: { passwordStore: 'userObject' } } },
    "config.accounts.passwordStore is userObject, but accounts.crds.install is true: the chart's definition of users has no spec.password, so the cluster would drop the hashes; set accounts.crds.install to false where the definitions of KubeSphere 3.4 are, or leave config.accounts.passwordStore out.",
  ],
  [
    'a group of Kubernetes as one whose people give roles',
    { accounts: { enabled: true, roleAssigners: { groups: ['system:masters'] } } },
    'accounts.roleAssigners.groups has "system:masters", which belongs to Kubernetes: Gatehouse would get the rights of that name; name people or groups of the platform.',
  ],
  [
    'everybody as a writer of users',
    { accounts: { enabled: true, objectWriters: { groups: ['system:authenticated'] } } },
    'accounts.objectWriters.groups has "system:authenticated": then everybody whom the cluster\'s roles let could write users past Gatehouse, and give themselves groups; name a group of people.',
  ],
  [
    'a gateway for nobody',
    { gateway: { enabled: true } },
    'gateway.enabled is true, but gateway.users is empty: Gatehouse may act in the cluster only as those who are named; name the users, set gateway.accounts.enabled to true, or set rbac.create to false and grant the rights yourself.',
  ],
  [
    'more prefixes of groups than the policy can compare',
    {
      accounts: { enabled: true },
      gateway: {
        enabled: true,
        accounts: { enabled: true, groups: Array.from({ length: 21 }, (_, at) => `team-${at}-*`) },
      },
    },
    "gateway.accounts.groups has 21 prefixes, but the API server compares a role's groups with at most 20 before it refuses to go on; use shorter prefixes that cover more.",
  ],
  [
    'more names of groups than the policy can look through',
    {
      accounts: { enabled: true },
      gateway: {
        enabled: true,
        accounts: { enabled: true, groups: Array.from({ length: 401 }, (_, at) => `team-${at}`) },
      },
    },
    'gateway.accounts.groups has 401 names, but the API server looks through at most 400 for each group of a role; use prefixes that cover several.',
  ],
  [
    'ClusterRoles that nobody makes',
    { accounts: { enabled: true }, rbac: { create: false }, gateway: { enabled: true, accounts: { enabled: true } } },
    'gateway.accounts.enabled is true, but rbac.create is false: the ClusterRoles that follow the users would not be there; set rbac.create to true, or name people in gateway.users.',
  ],
  [
    'two settings for the gateway',
    { gateway: { enabled: true, users: ['ada'] }, config: { gateway: { enabled: false } } },
    "config.gateway.enabled is not for the chart's config: set the value gateway.enabled instead.",
  ],
  [
    'other users of the gateway than those whom the cluster lets it impersonate',
    { gateway: { enabled: true, users: ['ada'] }, config: { gateway: { accounts: { groups: ['ops'] } } } },
    "config.gateway.accounts is not for the chart's config: set the value gateway.accounts instead, which the rights in the cluster follow.",
  ],
  [
    'a setting of the gateway without it',
    { config: { gateway: { allowProxySubresources: true } } },
    'config.gateway.allowProxySubresources is true, but gateway.enabled is false; set gateway.enabled to true, or leave it out.',
  ],
  [
    'everybody as a user of the gateway',
    { gateway: { enabled: true, users: ['*'] } },
    'gateway.users has "*", but Gatehouse acts only as those who are named; write out each name.',
  ],
  [
    'limits of impersonation that nothing reads',
    {
      gateway: {
        enabled: true,
        users: ['ada'],
        constrainedImpersonation: { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
      },
    },
    'gateway.constrainedImpersonation.rules is set, but gateway.constrainedImpersonation.enabled is false: nothing would be limited by it; set both, or leave the rules out.',
  ],
];

describe('contradictory values', () => {
  test.each(ROWS)('end the rendering with a sentence that names them: %s', async (_, values, sentence) => {
    await expect(render(values)).rejects.toThrow(`: ${sentence}\n`);
  });

  test('are told all at once, by the template of that purpose', async () => {
    const values = {
      image: { tag: '0.2.0', digest },
      ingress: { enabled: true },
      extraEnv: [{ name: 'NODE_OPTIONS', value: '' }],
    };
    const answer = render(values);
    await expect(answer).rejects.toThrow('(gatehouse/templates/preflight/values/refused.yaml:');
    await expect(answer).rejects.toThrow(
      [
        ': 3 values have to be changed:',
        '- image.tag is "0.2.0", but image.digest is set too, and the digest alone decides which image runs; set one of them to an empty text.',
        '- ingress.enabled is true, but ingress.hosts is empty: an Ingress without a host would take every request of its controller; name the hosts.',
        '- extraEnv has NODE_OPTIONS, which the chart sets itself.',
      ].join('\n'),
    );
  });

  test.each([
    ['a short shutdown delay of one replica', { config: { server: { shutdownDelay: '0s' } } }],
    [
      'a short shutdown delay of several, when it is wanted',
      {
        replicaCount: 2,
        sessions: shared,
        allow: { shortShutdownDelay: true },
        config: { server: { shutdownDelay: '0s' } },
      },
    ],
    [
      'own annotations for Prometheus, without the chart’s',
      { metrics: { annotations: false }, podAnnotations: { 'prometheus.io/scrape': 'true' } },
    ],
    [
      'a client of config that reads the Secret of oauth.client.existingSecret',
      {
        oauth: { client: { existingSecret: 'console' } },
        config: {
          authentication: {
            oauthOptions: { clients: [{ name: 'a', secretFile: '/var/run/secrets/gatehouse/oauth-client/secret' }] },
          },
        },
      },
    ],
    [
      'no rights to kinds, for settings that need none',
      { kinds: { rights: 'none' }, config: { kinds: { memory: '128Mi', allow: ['*.apps'] } } },
    ],
    [
      'less memory for kinds than the container has, in other units',
      { config: { kinds: { memory: '1Gi' } }, resources: { limits: { memory: '1.1G' } } },
    ],
    ['lists of Secrets with every right', { kinds: { rights: 'all' }, config: { kinds: { secrets: 'metadata' } } }],
    [
      'lists of Secrets with rights that somebody else grants',
      { rbac: { create: false }, config: { kinds: { secrets: 'metadata' } } },
    ],
    [
      'a budget that keeps two of three',
      { replicaCount: 3, sessions: shared, podDisruptionBudget: { minAvailable: 2 } },
    ],
  ])('are not %s', async (_, values) => {
    await expect(render(values)).resolves.toBeDefined();
  });
});
