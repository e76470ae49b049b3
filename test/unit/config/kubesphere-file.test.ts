import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { ConfigError } from '../../../src/config/problem.ts';

function problemsOf(text: string): Record<string, string> {
  try {
    loadConfig('kubesphere.yaml', () => text);
  } catch (error) {
    if (error instanceof ConfigError) return Object.fromEntries(error.problems.map((one) => [one.path, one.message]));
    throw error;
  }
  return {};
}

/** What 3.4's installer writes with everything on, and what people add to it by its documentation. */
const FILE = `
authentication:
  authenticateRateLimiterMaxTries: 10
  authenticateRateLimiterDuration: 10m0s
  loginHistoryRetentionPeriod: 168h
  maximumClockSkew: 10s
  multipleLogin: true
  kubectlImage: kubesphere/kubectl:v1.22.0
  jwtSecret: made-up
  oauthOptions:
    accessTokenMaxAge: 0
    identityProviders: []
ldap: {host: openldap.kubesphere-system.svc:389, managerPassword: admin}
redis: {host: redis.kubesphere-system.svc, port: 6379, password: made-up, db: 0}
cache: {type: redis, options: {host: redis}}
mysql: {host: mysql.kubesphere-system.svc:3306}
s3: {endpoint: "http://minio:9000"}
network: {enableNetworkPolicy: true, ippoolType: calico}
devops: {host: "http://ks-jenkins/"}
sonarQube: {host: "http://sonarqube"}
servicemesh: {kialiQueryHost: "http://kiali:20001"}
openpitrix: {s3: {}}
multicluster: {enable: true}
monitoring: {endpoint: "http://prometheus-operated:9090", enableGPUMonitoring: false}
gpu: {kinds: []}
notification: {endpoint: "http://notification-manager-svc:19093"}
logging: {host: "http://elasticsearch:9200", basicAuth: true, username: a, password: s3cret, indexPrefix: ks-logstash-log}
events: {host: "http://elasticsearch:9200"}
auditing: {enable: true}
alerting: {prometheusEndpoint: "http://prometheus-operated:9090"}
kubeedge: {endpoint: "http://edge-watcher.kubeedge.svc/api/"}
edgeRuntime: {endpoint: "http://edgeservice"}
metering: {retentionDay: 7d}
terminal: {image: alpine, timeout: 600}
kubernetes: {master: "https://10.0.0.1:6443", qps: 1000000, burst: 1000000}
gateway: {watchesPath: /var/helm-charts/watches.yaml, namespace: kubesphere-controls-system, repository: a, tag: b}
`;

describe('the file of KubeSphere 3.4', () => {
  const problems = problemsOf(FILE);

  test('has a sentence for each section and setting that is not ours', () => {
    expect(Object.entries(problems).filter(([, message]) => message === 'is not a known setting')).toEqual([]);
    expect(Object.keys(problems).toSorted()).toEqual([
      ...['alerting', 'auditing.enable', 'authentication.jwtSecret', 'authentication.kubectlImage'],
      'authentication.oauthOptions.accessTokenMaxAge',
      ...['authentication.oauthOptions.identityProviders', 'cache', 'devops', 'edgeRuntime'],
      ...['gateway.namespace', 'gateway.repository', 'gateway.tag', 'gateway.watchesPath', 'gpu', 'kubeedge'],
      ...['kubernetes.burst', 'kubernetes.master', 'kubernetes.qps', 'ldap', 'logging.basicAuth', 'logging.password'],
      ...[
        'metering',
        'monitoring.enableGPUMonitoring',
        'monitoring.endpoint',
        'multicluster',
        'mysql',
        'network',
        'notification',
        'openpitrix',
        'redis',
        's3',
      ],
      ...['servicemesh', 'sonarQube', 'terminal'],
    ]);
  });

  test.each([
    [
      'ldap',
      'is not read: users are in a file (users.file) or are objects of the cluster (accounts.enabled); remove it',
    ],
    ['redis', 'is not needed: sessions are in Secrets of the cluster (sessions.store: kubernetes); remove it'],
    ['logging.password', 'is not read: put it into a file, and name that in logging.passwordFile'],
    ['monitoring.endpoint', 'is called monitoring.prometheus here'],
    ['multicluster', 'has no counterpart here: one server is for one cluster; remove it'],
  ])('says of %s what takes its place, or that nothing does', (path, sentence) => {
    expect(problems[path]).toBe(sentence);
  });

  test('is told so of a section without content too, and nothing of it is quoted', () => {
    expect(Object.keys(problemsOf('ldap:\nredis: ~\nSonarQube: {}')).toSorted()).toEqual([
      'SonarQube',
      'ldap',
      'redis',
    ]);
    expect(problemsOf('SonarQube:')['SonarQube']).toContain('pipelines are not offered');
    expect(JSON.stringify(problems)).not.toContain('s3cret');
  });

  test('is taken at its exact place: elsewhere such a name is an unknown setting', () => {
    expect(problemsOf('server: {redis: {}}\nlogging: {ldap: {}, constructor: 1}')).toEqual({
      'server.redis': 'is not a known setting',
      'logging.constructor': 'is not a known setting',
      'logging.ldap': 'is not a known setting',
    });
  });
});
