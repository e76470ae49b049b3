/** The shapes of the files that people have, by what they are. Secrets in them begin with "made-up-". */

const full = `
authentication:
  authenticateRateLimiterMaxTries: 10
  authenticateRateLimiterDuration: 10m0s
  loginHistoryRetentionPeriod: 168h
  maximumClockSkew: 10s
  multipleLogin: True
  kubectlImage: example.test/kubectl:v1.22.0
  jwtSecret: "made-up-jwt-secret-of-32-characters"
  oauthOptions:
    clients:
    - name: kubesphere
      secret: kubesphere
      redirectURIs:
      - '*'
ldap: {host: "openldap.example.test:389", managerDN: "cn=admin,dc=example", managerPassword: made-up-ldap, userSearchBase: "ou=Users"}
redis: {host: redis.example.test, port: 6379, password: made-up-redis, db: 0}
s3: {endpoint: "http://minio.example.test:9000", accessKeyID: made-up-key, secretAccessKey: made-up-access, bucket: s2i}
devops: {host: "http://devops.example.test", username: admin, maxConnections: 100, endpoint: "http://devops:9090"}
sonarQube: {host: "http://sonar.example.test", token: made-up-sonar}
network: {ippoolType: calico, enableNetworkPolicy: true, weaveScopeHost: weave.example.test}
servicemesh: {istioPilotHost: "http://istio:8080", kialiQueryHost: "http://kiali:20001"}
openpitrix: {s3: {endpoint: "http://minio:9000", secretAccessKey: made-up-store}}
monitoring: {endpoint: "http://prometheus.example.test:9090", enableGPUMonitoring: false}
gpu: {kinds: [{resourceName: nvidia.com/gpu, resourceType: GPU, default: True}]}
logging: {host: "http://elasticsearch.example.test:9200", indexPrefix: ks-logstash-log, basicAuth: False, username: "", password: ""}
events: {host: "http://elasticsearch.example.test:9200", indexPrefix: ks-logstash-events}
auditing: {enable: true, webhookURL: "https://audit.example.test", host: "http://elasticsearch.example.test:9200"}
alerting: {prometheusEndpoint: "http://prometheus.example.test:9090", thanosRulerEndpoint: "http://thanos:10902"}
gateway: {watchesPath: /var/helm-charts/watches.yaml, repository: example.test/nginx-ingress-controller, tag: v1.1.0, namespace: example}
terminal: {image: "example.test/alpine:3.14", timeout: 600}
metering: {billing: {priceInfo: {currencyUnit: USD, cpuPerCorePerHour: 1.5}}}
notification: {endpoint: "http://notification.example.test:19093"}
kubeedge: {endpoint: "http://edge.example.test/api/"}
`;

const inConfigMap = (file: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kubesphere-config', namespace: 'kubesphere-system' },
    data: { 'kubesphere.yaml': file },
  });

const member = `
authentication:
  jwtSecret: made-up-jwt-of-the-host-cluster-0001
  oauthOptions: {accessTokenMaxAge: 0, accessTokenInactivityTimeout: 0}
multicluster: {enable: false, clusterRole: member}
monitoring: {endpoint: "http://prometheus.example.test:9090"}
`;

const installer = `
apiVersion: installer.kubesphere.io/v1alpha1
kind: ClusterConfiguration
spec: {authentication: {jwtSecret: made-up-installer}}
`;

export const SHAPES: Readonly<Record<string, string>> = {
  'a full installation of 3.4': full,
  'the ConfigMap of a full installation': inConfigMap(full),
  'a list of ConfigMaps': `{kind: List, apiVersion: v1, items: [{kind: ConfigMap, data: {other: text}}, ${inConfigMap(member)}]}`,
  'a member cluster': member,
  'several documents, as the installer is given them': `---\n${installer}\n---\n${inConfigMap(member)}\n---\n`,
  "a developer's minimal file": `
kubernetes: {kubeconfig: /nowhere/.kube/config, qps: 1e+06, burst: 1000000, master: "https://127.0.0.1:6443"}
authentication: {jwtSecret: made-up-of-a-developer, authenticateRateLimiterDuration: 600000000000}
authorization: {mode: AlwaysAllow}
`,
  'names in any case, and words for true': `
AUTHENTICATION: {MULTIPLELOGIN: "yes", AuthenticateRateLimiterMaxTries: "7", jwtsecret: made-up-upper}
`,
  'identity providers': `
authentication:
  jwtSecret: made-up-with-providers
  oauthOptions:
    accessTokenMaxAge: 1h
    accessTokenInactivityTimeout: 30m
    identityProviders:
    - {name: ldap, type: LDAPIdentityProvider, mappingMethod: auto, provider: {host: "192.0.2.2:389", managerPassword: made-up-manager}}
    - {name: google, type: OIDCIdentityProvider, provider: {clientID: some-id, clientSecret: made-up-google}}
`,
  'a log store with credentials, and clients of its own': `
authentication:
  oauthOptions:
    issuer: https://gatehouse.example.test/oauth
    clients:
    - {name: kubesphere, secret: kubesphere, redirectURIs: ['*']}
    - {name: harbor, secret: made-up-harbor, grantMethod: auto, respondWithChallenges: true, redirectURIs: ['https://harbor.example.test/back'],
       accessTokenMaxAge: 2h, scopeRestrictions: [openid]}
    - {name: forever, secret: made-up-forever, accessTokenMaxAge: 0}
    - {secret: made-up-nameless}
logging: {host: "https://opensearch.example.test:9200", basicAuth: true, username: admin, password: made-up-logging, version: 7}
`,
  'anchors, and maps merged by them': `
stores: &store {host: "https://opensearch.example.test:9200", basicAuth: True, username: admin, password: made-up-anchored}
logging: {<<: *store, indexPrefix: ks-logs}
events: *store
`,
  'tabs where YAML allows them':
    'authentication:\t# all of it\n  multipleLogin:\tfalse\n  jwtSecret:\t"made-up-tabbed"\n\t\n',
  'a file of 4.0': `
authentication:
  authenticateRateLimiterMaxTries: 10
  issuer: {url: "https://console.example.test:30880", jwtSecret: made-up-4, accessTokenMaxAge: 2h, accessTokenInactivityTimeout: 30m, maximumClockSkew: 10s}
  password: {bcryptCost: 10}
kubernetes: {}
experimental: {validationDirective: ""}
`,
  'values that 3.4 would take and Gatehouse does not': `
authentication: {maximumClockSkew: 10m, authenticateRateLimiterMaxTries: 0, loginHistoryMaximumEntries: 99999999}
authorization: {mode: AlwaysDeny}
logging: {host: "https://made-up-user:made-up-word@opensearch.example.test", version: "5"}
`,
};
