const OWN_KEYS = 'is not used: signing keys are made and kept in a Secret by the program; remove it';

/** Keys that are refused in every section. Some are KubeSphere 3.4's, some are planned. */
const BY_KEY: Readonly<Record<string, string>> = {
  jwtSecret: OWN_KEYS,
  signKey: OWN_KEYS,
  signKeyData: OWN_KEYS,
  identityProviders: 'is not offered: users sign in with a password; remove it',
  respondWithChallenges: 'has no meaning here; remove it',
  scopeRestrictions: 'has no meaning here; remove it',
  tokenReview: 'is in the wrong place: the settings of the TokenReview webhook are authentication.tokenReview',
  rehash: 'is not offered: users are only read; create new hashes with "gatehouse hash-password", and remove it',
};

const nothing = (what: string): string => `has no counterpart here: ${what}; remove it`;
const KUBECTL =
  'has no counterpart here: no terminals are run; kubectl itself works through gateway.enabled; remove it';
const OTHER_GATEWAY =
  'is about the gateways that 3.4 creates for Ingresses, which are not offered: gateway is the cluster’s own API here; remove it';

const NO_WEBHOOK =
  'is not needed: the audit trail goes to standard output (log.auditLevel), and the auditing of the cluster is its own; remove it';

/** A store's credentials, as 3.4 writes them. */
const credentialsOf = (section: string): (readonly [string, string])[] => [
  [`${section}.basicauth`, `is not needed: credentials are sent when ${section}.username is set; remove it`],
  [`${section}.password`, `is not read: put it into a file, and name that in ${section}.passwordFile`],
];

/**
 * Sections and settings of KubeSphere 3.4's `kubesphere.yaml` that Gatehouse does not have. Each says what takes its place, or why
 * nothing does. 3.4 reads names without regard to case, so these are written in lower case.
 * https://github.com/kubesphere/kubesphere/blob/v3.4.1/pkg/apiserver/config/config.go
 */
const OF_KUBESPHERE: Readonly<Record<string, string>> = {
  alerting: nothing(
    'alerts are rules of Prometheus, and charts/gatehouse/files/rules.yaml has those about this server',
  ),
  cache: 'is not needed: nothing is kept in a cache of its own, and sessions are where sessions.store says; remove it',
  devops: nothing('pipelines are not offered'),
  edgeruntime: nothing('edge nodes are not offered'),
  gpu: nothing('kinds of GPUs are not offered'),
  kubeedge: nothing('edge nodes are not offered'),
  ldap: 'is not read: users are in a file (users.file) or are objects of the cluster (accounts.enabled); remove it',
  metering: nothing('metering is not offered'),
  multicluster: nothing('one server is for one cluster'),
  mysql: nothing('no database is needed'),
  network: nothing('network policies and address pools are not offered'),
  notification: nothing('notifications are not sent'),
  openpitrix: nothing('there is no store of applications'),
  redis: 'is not needed: sessions are in Secrets of the cluster (sessions.store: kubernetes); remove it',
  s3: nothing('no files are kept'),
  servicemesh: nothing('the service mesh is not served'),
  sonarqube: nothing('pipelines are not offered'),
  terminal: KUBECTL,
  'authentication.issuer': 'is in the wrong place: the issuer is authentication.oauthOptions.issuer, a URL',
  'authentication.kubectlimage': KUBECTL,
  'gateway.namespace': OTHER_GATEWAY,
  'gateway.repository': OTHER_GATEWAY,
  'gateway.tag': OTHER_GATEWAY,
  'gateway.watchespath': OTHER_GATEWAY,
  'kubernetes.burst': nothing('the cluster is asked at its own pace'),
  'kubernetes.master': 'is not read: the kubeconfig (kubernetes.kubeconfig) says where the cluster is; remove it',
  'kubernetes.qps': nothing('the cluster is asked at its own pace'),
  ...Object.fromEntries(['logging', 'events', 'auditing'].flatMap(credentialsOf)),
  ...Object.fromEntries(
    ['webhookurl', 'enable', 'goroutinesnum', 'batchsize', 'batchinterval'].map((name) => [
      `auditing.${name}`,
      NO_WEBHOOK,
    ]),
  ),
  'monitoring.enablegpumonitoring': nothing('graphics processors are not measured'),
  'monitoring.endpoint': 'is called monitoring.prometheus here',
};

/** Why a setting that the schema does not know is refused. `path` is its name with dots. */
export function whyRefused(path: string): string {
  const key = path.slice(path.lastIndexOf('.') + 1);
  return own(OF_KUBESPHERE, path.toLowerCase()) ?? own(BY_KEY, key) ?? 'is not a known setting';
}

/** Whether settings of this section, as a name with dots, have reasons of their own, and the section has none. */
export function hasReasonsWithin(section: string): boolean {
  const name = section.toLowerCase();
  return !Object.hasOwn(OF_KUBESPHERE, name) && Object.keys(OF_KUBESPHERE).some((path) => path.startsWith(`${name}.`));
}

/** Looks up own members only, because a setting may be called `constructor`. */
const own = (table: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
