import type { V1NetworkPolicy } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { render } from './helm.ts';

const ADDRESS = 'https://prometheus.monitoring.svc:9090';
const on = { monitoring: { prometheus: ADDRESS } };

describe('monitoring.prometheus', () => {
  test('CO-09 is in the configuration, with a token, or with a user and a password', async () => {
    const monitoring = { prometheus: ADDRESS, existingSecret: 'prometheus', ca: { existingSecret: 'prometheus-ca' } };
    const folder = '/var/run/secrets/gatehouse';
    const caFile = `${folder}/prometheus-ca/ca.crt`;
    expect((await render({ monitoring })).config).toMatchObject({
      monitoring: { prometheus: ADDRESS, tokenFile: `${folder}/prometheus/token`, caFile },
    });
    const { config, pod } = await render({ monitoring: { ...monitoring, username: 'gatehouse' } });
    expect(config).toMatchObject({
      monitoring: { username: 'gatehouse', passwordFile: `${folder}/prometheus/password`, caFile },
    });
    const names = ['prometheus', 'prometheus-ca'];
    expect(pod.volumes?.filter(({ name }) => names.includes(name))).toEqual(
      names.map((name) => ({ name, secret: { secretName: name, defaultMode: 0o440 } })),
    );
    expect((await render()).config).not.toHaveProperty('monitoring');
  });

  test('CO-09 is let out to by the network policy', async () => {
    const egress = async (values: object) =>
      (await render({ networkPolicy: { enabled: true }, ...values }))
        .one<V1NetworkPolicy>('NetworkPolicy')
        .spec!.egress!.slice(2);
    expect(await egress(on)).toEqual([{ ports: [{ port: 9090, protocol: 'TCP' }] }]);
    expect(await egress({})).toEqual([]);
    const to = [{ ipBlock: { cidr: '10.0.0.7/32' } }];
    const networkPolicy = { enabled: true, egress: { prometheus: { ports: [9091], to } } };
    expect(await egress({ ...on, networkPolicy })).toEqual([{ ports: [{ port: 9091, protocol: 'TCP' }], to }]);
  });

  const without = (name: string): string =>
    `${name} is set, but monitoring.prometheus is empty: there is no Prometheus; set monitoring.prometheus to its address, or leave the other out.`;
  const instead = (setting: string, value: string): string =>
    `config.monitoring.${setting} is not for the chart's config: set the value monitoring.${value} instead.`;
  const ca = { ca: { existingSecret: 'a' } };

  test.each<[string, object, string]>([
    ['a user of no Prometheus', { monitoring: { username: 'a' } }, without('monitoring.username')],
    ['a secret for no Prometheus', { monitoring: { existingSecret: 'a' } }, without('monitoring.existingSecret')],
    ['certificates of no Prometheus', { monitoring: ca }, without('monitoring.ca.existingSecret')],
    [
      'settings of no Prometheus',
      { config: { monitoring: { insecureSkipTLSVerify: true } } },
      without('config.monitoring'),
    ],
    [
      'a way to no Prometheus',
      { networkPolicy: { egress: { prometheus: { ports: [9090] } } } },
      without('networkPolicy.egress.prometheus.ports'),
    ],
    [
      'a user without a password',
      { monitoring: { prometheus: ADDRESS, username: 'a' } },
      "monitoring.username is set, but monitoring.existingSecret is empty: name the Secret with that user's password.",
    ],
    [
      'certificates without TLS',
      { monitoring: { prometheus: 'http://prometheus:9090', ...ca } },
      'monitoring.ca.existingSecret is set, but monitoring.prometheus is http://prometheus:9090, which has no certificate; write https://, or leave monitoring.ca.existingSecret out.',
    ],
    [
      'certificates that nobody checks',
      { monitoring: { prometheus: ADDRESS, ...ca }, config: { monitoring: { insecureSkipTLSVerify: true } } },
      'monitoring.ca.existingSecret is set, but config.monitoring.insecureSkipTLSVerify is true: no certificate would be checked; leave one of them out.',
    ],
    [
      'certificates from two places',
      { monitoring: { prometheus: ADDRESS, ...ca }, config: { monitoring: { caFile: '/tmp/ca.crt' } } },
      'monitoring.ca.existingSecret and config.monitoring.caFile are both set, and one file is read; leave one of them out.',
    ],
    ['an address in config', { config: { monitoring: { prometheus: ADDRESS } } }, instead('prometheus', 'prometheus')],
    [
      'a file of the token in config',
      { ...on, config: { monitoring: { tokenFile: '/p' } } },
      instead('tokenFile', 'existingSecret'),
    ],
  ])('CO-09 contradictory values end the rendering: %s', async (_, values, sentence) => {
    await expect(render(values)).rejects.toThrow(`: ${sentence}\n`);
  });
});
