import type { V1NetworkPolicy } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { type Manifest, NAMESPACE, nameOf, notes, type Rendered, render } from './helm.ts';

const HOST = 'https://opensearch.logging.svc:9200';
const ROLE = `${NAMESPACE}:gatehouse:log-reader`;
const on = { logging: { host: HOST } };
const full = {
  logging: { host: HOST, username: 'gatehouse', existingSecret: 'log-store', ca: { existingSecret: 'log-store-ca' } },
};

const names = ({ objects }: Rendered): string[] => objects.map(nameOf);

describe('with a log store', () => {
  test('comes a role for those who query, bound to nobody, and without a store it does not', async () => {
    const [without, having] = [await render(), await render(full)];
    expect(names(having).filter((name) => !names(without).includes(name))).toEqual([`ClusterRole ${ROLE}`]);
    expect(having.one<Manifest & { rules: object[] }>('ClusterRole', ROLE).rules).toEqual([
      { apiGroups: ['tenant.gatehouse.io'], resources: ['logs'], verbs: ['list'] },
    ]);
    expect(without.config).not.toHaveProperty('logging');
  });

  test('8.1 the service account gets no further right', async () => {
    const others = ({ rules }: Rendered) => rules.filter(({ role }) => role !== `ClusterRole ${ROLE}`);
    expect(others(await render(full))).toEqual(others(await render()));
  });

  test('the role has the group of the platform, and the rights can be left to somebody else', async () => {
    const { rules } = (await render({ ...on, platform: 'kubesphere' })).one<Manifest & { rules: object[] }>(
      'ClusterRole',
      ROLE,
    );
    expect(rules).toMatchObject([{ apiGroups: ['tenant.kubesphere.io'] }]);
    expect((await render({ ...on, rbac: { create: false } })).all('ClusterRole')).toEqual([]);
  });

  test('the configuration has the address, the user and the files, and what config says besides', async () => {
    const { config } = await render({ ...full, config: { logging: { indexPrefix: 'logs', exportLogsLimit: 5 } } });
    expect(config).toMatchObject({
      logging: {
        host: HOST,
        username: 'gatehouse',
        passwordFile: '/var/run/secrets/gatehouse/log-store/password',
        caFile: '/var/run/secrets/gatehouse/log-store-ca/ca.crt',
        indexPrefix: 'logs',
        exportLogsLimit: 5,
      },
    });
    expect((await render(on)).config).toMatchObject({ logging: { host: HOST } });
  });

  test('both Secrets are mounted, for reading by the pod’s group', async () => {
    const { pod, container } = await render(full);
    const folders = ['log-store', 'log-store-ca'];
    expect(pod.volumes?.filter(({ name }) => folders.includes(name))).toEqual(
      folders.map((name) => ({ name, secret: { secretName: name, defaultMode: 0o440 } })),
    );
    expect(container.volumeMounts?.filter(({ name }) => folders.includes(name))).toEqual(
      folders.map((name) => ({ name, mountPath: `/var/run/secrets/gatehouse/${name}`, readOnly: true })),
    );
  });

  test('certificates may come from a volume of somebody else', async () => {
    const values = {
      ...on,
      extraVolumes: [{ name: 'bundle', configMap: { name: 'bundle' } }],
      extraVolumeMounts: [{ name: 'bundle', mountPath: '/etc/bundle' }],
      config: { logging: { caFile: '/etc/bundle/ca.pem' } },
    };
    expect((await render(values)).config).toMatchObject({ logging: { caFile: '/etc/bundle/ca.pem' } });
  });

  test('the notes say where logs come from and who may ask', async () => {
    expect(await notes(on)).toContain(
      `Log queries are answered from ${HOST} to those who may list logs (ClusterRole ${ROLE}), of namespaces where they may get pods/log.`,
    );
    expect((await notes({})).join('\n')).not.toContain('Log queries');
  });
});

describe('the network policy', () => {
  const egress = async (values: object) => {
    const rendered = await render({ networkPolicy: { enabled: true }, ...values });
    return rendered.one<V1NetworkPolicy>('NetworkPolicy').spec!.egress!.slice(2);
  };

  test.each([
    [HOST, 9200],
    ['https://logs.example.com', 443],
    ['http://logs.example.com/es', 80],
    ['https://[2001:db8::7]:9201/es:9', 9201],
    ['https://[2001:db8::7]', 443],
  ])('8.2 lets out to the port of %s', async (host, port) => {
    expect(await egress({ logging: { host } })).toEqual([{ ports: [{ port, protocol: 'TCP' }] }]);
    expect(await egress({})).toEqual([]);
  });

  test('8.2 lets out to the ports and peers that are named instead', async () => {
    const to = [{ ipBlock: { cidr: '10.0.0.7/32' } }];
    const networkPolicy = { enabled: true, egress: { logStore: { ports: [9200, 9201], to } } };
    expect(await egress({ logging: { host: 'https://logs' }, networkPolicy })).toEqual([
      {
        ports: [
          { port: 9200, protocol: 'TCP' },
          { port: 9201, protocol: 'TCP' },
        ],
        to,
      },
    ]);
  });
});

describe('contradictory values', () => {
  const without = (name: string): string =>
    `${name} is set, but logging.host is empty: there is no log store; set logging.host to its address, or leave the other out.`;
  const instead = (setting: string, value: string): string =>
    `config.${setting} is not for the chart's config: set the value ${value} instead.`;

  test.each<[string, object, string]>([
    ['a user of no store', { logging: { username: 'a' } }, without('logging.username')],
    ['a password for no store', { logging: { existingSecret: 'a' } }, without('logging.existingSecret')],
    ['certificates of no store', { logging: { ca: { existingSecret: 'a' } } }, without('logging.ca.existingSecret')],
    ['settings of no store', { config: { logging: { exportLogsLimit: 5 } } }, without('config.logging')],
    [
      'a way to no store',
      { networkPolicy: { egress: { logStore: { ports: [9200] } } } },
      without('networkPolicy.egress.logStore.ports'),
    ],
    [
      'a user without a password',
      { logging: { host: HOST, username: 'a' } },
      "logging.username is set, but logging.existingSecret is empty: name the Secret with that user's password.",
    ],
    [
      'a password of nobody',
      { logging: { host: HOST, existingSecret: 'a' } },
      'logging.existingSecret is set, but logging.username is empty: name the user whose password that Secret holds.',
    ],
    [
      'certificates without TLS',
      { logging: { host: 'http://logs:9200', ca: { existingSecret: 'a' } } },
      'logging.ca.existingSecret is set, but logging.host is http://logs:9200, which has no certificate; write https://, or leave logging.ca.existingSecret out.',
    ],
    [
      'certificates that nobody checks',
      { ...full, config: { logging: { insecureSkipTLSVerify: true } } },
      'logging.ca.existingSecret is set, but config.logging.insecureSkipTLSVerify is true: no certificate would be checked; leave one of them out.',
    ],
    [
      'certificates from two places',
      { ...full, config: { logging: { caFile: '/tmp/ca.crt' } } },
      'logging.ca.existingSecret and config.logging.caFile are both set, and one file is read; leave one of them out.',
    ],
    [
      'certificates that no volume has',
      { ...on, config: { logging: { caFile: '/etc/ca.crt' } } },
      'config.logging.caFile is "/etc/ca.crt", which is in no volume of the pod; mount it with extraVolumes and extraVolumeMounts.',
    ],
    ['an address in config', { config: { logging: { host: HOST } } }, instead('logging.host', 'logging.host')],
    [
      'a user in config',
      { ...on, config: { logging: { username: 'a' } } },
      instead('logging.username', 'logging.username'),
    ],
    [
      'a file of the password in config',
      { ...on, config: { logging: { passwordFile: '/p' } } },
      instead('logging.passwordFile', 'logging.existingSecret'),
    ],
  ])('end the rendering with a sentence that names them: %s', async (_, values, sentence) => {
    await expect(render(values)).rejects.toThrow(`: ${sentence}\n`);
  });

  test('an address with credentials is refused by the schema', async () => {
    const answer = render({ logging: { host: 'https://gatehouse:made-up@opensearch:9200' } });
    await expect(answer).rejects.toThrow("at '/logging/host'");
  });
});
