import type { V1Ingress } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { type Manifest, render } from './helm.ts';

const issuer = 'https://a.example.com/oauth';

describe('the Ingress', () => {
  test('is made on request only', async () => {
    expect((await render()).all('Ingress')).toEqual([]);
  });

  test('passes every path of its hosts on to the API port', async () => {
    const backend = { service: { name: 'gatehouse', port: { name: 'api' } } };
    const http = { paths: [{ path: '/', pathType: 'Prefix', backend }] };
    const ingress = { enabled: true, hosts: ['a.example.com', '*.b.example.com'] };
    expect((await render({ ingress, issuer })).one<V1Ingress>('Ingress').spec).toEqual({
      rules: [
        { host: 'a.example.com', http },
        { host: '*.b.example.com', http },
      ],
    });
  });

  test('has the class, annotations, labels, path and certificates that are set', async () => {
    const tls = [{ secretName: 'a-example-com', hosts: ['a.example.com'] }];
    const annotations = { 'nginx.ingress.kubernetes.io/backend-protocol': 'HTTPS' };
    const more = { className: 'nginx', annotations, labels: { zone: 'public' }, path: '/x', pathType: 'Exact', tls };
    const ingress = { enabled: true, hosts: ['a.example.com'], ...more };
    const { spec, metadata } = (await render({ ingress, issuer })).one<V1Ingress>('Ingress');
    expect(metadata).toMatchObject({ annotations, labels: { zone: 'public' } });
    expect(spec).toMatchObject({ ingressClassName: 'nginx', tls });
    expect(spec?.rules?.[0]?.http?.paths[0]).toMatchObject({ path: '/x', pathType: 'Exact' });
  });
});

describe('several paths of the Ingress', () => {
  const rendered = (more: object) => render({ issuer, ingress: { enabled: true, hosts: ['a.example.com'], ...more } });

  test('take the place of the one, each with its type and, where it has one, its own backend', async () => {
    const ours = { service: { name: 'gatehouse', port: { name: 'api' } } };
    const backend = { service: { name: 'static', port: { number: 80 } } };
    const paths = [{ path: '/oauth' }, { path: '/robots.txt', pathType: 'Exact', backend }];
    const { spec } = (await rendered({ paths })).one<V1Ingress>('Ingress');
    expect(spec?.rules?.[0]?.http?.paths).toEqual([
      { path: '/oauth', pathType: 'Prefix', backend: ours },
      { path: '/robots.txt', pathType: 'Exact', backend },
    ]);
  });

  test.each([
    [
      { path: '/x', paths: [{ path: '/oauth' }] },
      'ingress.paths is set, but so is ingress.path or ingress.pathType (/x, Prefix), which would have no effect; put that path into ingress.paths.',
    ],
    [
      { paths: [{ path: '/a' }, { path: '/a', pathType: 'Prefix' }] },
      'ingress.paths has the path /a (Prefix) twice; leave one of them out.',
    ],
  ])('are refused beside another, or twice: %j', async (ingress, sentence) => {
    await expect(rendered(ingress)).rejects.toThrow(`: ${sentence}\n`);
  });
});

describe('the HTTPRoute', () => {
  const parentRefs = [{ name: 'public', namespace: 'gateways', sectionName: 'https' }];

  test('is made on request only', async () => {
    expect((await render()).all('HTTPRoute')).toEqual([]);
  });

  test('passes every path on to the Service’s port', async () => {
    const httpRoute = { enabled: true, parentRefs };
    const rendered = await render({ httpRoute, issuer, service: { type: 'ClusterIP', port: 8080 } });
    expect(rendered.one('HTTPRoute')).toMatchObject({ apiVersion: 'gateway.networking.k8s.io/v1' });
    expect(rendered.one<Manifest & { readonly spec: object }>('HTTPRoute').spec).toEqual({
      parentRefs,
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: '/' } }],
          backendRefs: [{ name: 'gatehouse', port: 8080 }],
        },
      ],
    });
  });

  test('has the host names, annotations and labels that are set', async () => {
    const more = { annotations: { 'example.com/owner': 'platform' }, labels: { zone: 'public' } };
    const httpRoute = { enabled: true, parentRefs, hostnames: ['a.example.com'], ...more };
    expect((await render({ httpRoute, issuer })).one('HTTPRoute')).toMatchObject({
      metadata: more,
      spec: { hostnames: ['a.example.com'] },
    });
  });
});
