import { describe, expect, test } from 'vitest';
import { type Manifest, notes, type Rendered, render, renderTest } from './helm.ts';

interface Certificate extends Manifest {
  readonly spec: { readonly secretName: string; readonly dnsNames: readonly string[] };
}

const certified = (certManager: object = {}, values: object = {}): Promise<Rendered> =>
  render({ ...values, tls: { certManager: { issuerRef: { name: 'company-ca' }, ...certManager } } });
const namesOf = async (certManager: object): Promise<readonly string[]> =>
  (await certified(certManager)).one<Certificate>('Certificate').spec.dnsNames;

const SERVICE = [
  'gatehouse',
  'gatehouse.gatehouse-system',
  'gatehouse.gatehouse-system.svc',
  'gatehouse.gatehouse-system.svc.cluster.local',
];

describe('the Certificate', () => {
  test('is made only where an issuer is named', async () => {
    expect((await render()).all('Certificate')).toEqual([]);
  });

  test('takes the issuer alone: it names the Service, and its Secret serves as tls.existingSecret does', async () => {
    const made = await certified();
    expect(made.one<Certificate>('Certificate')).toMatchObject({ apiVersion: 'cert-manager.io/v1' });
    expect(made.one<Certificate>('Certificate').spec).toEqual({
      secretName: 'gatehouse-tls',
      issuerRef: { name: 'company-ca', kind: 'Issuer', group: 'cert-manager.io' },
      dnsNames: SERVICE,
      usages: ['digital signature', 'key encipherment', 'server auth'],
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
    });
    const given = await render({ tls: { existingSecret: 'gatehouse-tls' } });
    const others = made.objects.filter(({ kind }) => kind !== 'Certificate');
    expect(others).toEqual(given.objects);
    const [ours, theirs] = [{ certManager: { issuerRef: { name: 'a' } } }, { existingSecret: 'gatehouse-tls' }];
    expect(await renderTest({ tls: ours })).toEqual(await renderTest({ tls: theirs }));
    expect(await notes({ tls: ours })).toEqual(await notes({ tls: theirs }));
  });

  test('names the hosts that are given as well, each once, in the domain of the cluster', async () => {
    const hosts = ['gatehouse.example.com', 'gatehouse'];
    expect(await namesOf({ hosts, clusterDomain: 'k8s.example.com' })).toEqual([
      ...SERVICE.slice(0, 3),
      'gatehouse.gatehouse-system.svc.k8s.example.com',
      'gatehouse.example.com',
    ]);
  });

  test('names the given hosts alone for an issuer of public certificates', async () => {
    const hosts = ['gatehouse.example.com', '*.gate.example.com'];
    expect(await namesOf({ hosts, serviceNames: false })).toEqual(hosts);
  });

  test('has the issuer, times, key, labels and annotations that are set', async () => {
    const issuerRef = { name: 'vault', kind: 'VaultIssuer', group: 'vault.example.com' };
    const times = { duration: '2160h', renewBefore: '360h30m' };
    const metadata = { labels: { zone: 'public' }, annotations: { 'example.com/owner': 'platform' } };
    const privateKey = { algorithm: 'RSA', size: 4096, rotationPolicy: null };
    const made = (await certified({ issuerRef, ...times, ...metadata, privateKey })).one<Certificate>('Certificate');
    expect(made).toMatchObject({ metadata, spec: { issuerRef, ...times } });
    expect(made.spec).toHaveProperty('privateKey', { algorithm: 'RSA', size: 4096 });
  });

  test('makes the metrics port speak HTTPS, which a monitor has to check', async () => {
    const monitor = (serviceMonitor: object): Promise<Rendered> =>
      certified({}, { metrics: { serviceMonitor: { enabled: true, ...serviceMonitor } } });
    await expect(monitor({})).rejects.toThrow(
      'metrics.serviceMonitor.tlsConfig is empty, but tls.certManager.issuerRef makes the metrics port speak HTTPS, ',
    );
    await expect(monitor({ scheme: 'http', tlsConfig: { serverName: 'a' } })).rejects.toThrow(
      'but the metrics port speaks https, as tls.certManager.issuerRef decides; ',
    );
  });

  test.each([
    [
      'beside a Secret that exists',
      { existingSecret: 'certificate', certManager: { issuerRef: { name: 'company-ca' } } },
      'tls.certManager.issuerRef.name is "company-ca", but tls.existingSecret is "certificate", and one certificate is served; leave one of them out.',
    ],
    [
      'with hosts and no issuer',
      { certManager: { hosts: ['gatehouse.example.com'] } },
      'tls.certManager.hosts is set, but tls.certManager.issuerRef.name is empty: no Certificate is made; name the issuer, or leave tls.certManager.hosts out.',
    ],
    [
      'with no name in it',
      { certManager: { issuerRef: { name: 'letsencrypt' }, serviceNames: false } },
      'tls.certManager.serviceNames is false, but tls.certManager.hosts is empty: the certificate would have no name; name the hosts.',
    ],
  ])('is refused %s', async (_, tls, sentence) => {
    await expect(render({ tls })).rejects.toThrow(`: ${sentence}\n`);
  });
});
