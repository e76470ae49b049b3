import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isMap, isScalar, parseDocument, type YAMLMap } from 'yaml';
import { CHART, render } from './helm.ts';

describe('contradictory values', () => {
  test.each([
    [
      'more replicas than one with sessions in memory',
      { replicaCount: 2, sessions: { store: 'memory' } },
      "replicaCount is 2, but sessions.store is memory: replicas would not see each other's sessions; set sessions.store to kubernetes, or replicaCount to 1.",
    ],
    [
      'a node port on a Service that has none',
      { service: { type: 'ClusterIP', nodePort: 30880 } },
      'service.nodePort is set, but service.type is ClusterIP, which has none; set service.type to NodePort or leave service.nodePort out.',
    ],
    [
      'an outside traffic policy without outside traffic',
      { service: { type: 'ClusterIP', externalTrafficPolicy: 'Local' } },
      'service.externalTrafficPolicy is Local, but service.type is ClusterIP, which gets no outside traffic; set service.type to NodePort or LoadBalancer.',
    ],
    [
      'a platform in config',
      { config: { platform: 'other' } },
      "config.platform is not for the chart's config: set the value platform instead.",
    ],
    [
      'a port in config',
      { config: { server: { port: 8080 } } },
      "config.server.port is not for the chart's config: the pod listens on 9090; service.port is the value for the port that callers use.",
    ],
    [
      'a users file in config',
      { config: { users: { file: '/users.yaml' } } },
      "config.users.file is not for the chart's config: set the value users.existingSecret instead.",
    ],
    [
      'a file of a caller’s bearer in config',
      { config: { authentication: { tokenReview: { callerTokenFile: '/token' } } } },
      "config.authentication.tokenReview.callerTokenFile is not for the chart's config: set the value tokenReview.existingSecret instead.",
    ],
    [
      'an issuer in config',
      { config: { authentication: { oauthOptions: { issuer: 'https://a.example.com/oauth' } } } },
      "config.authentication.oauthOptions.issuer is not for the chart's config: set the value issuer instead.",
    ],
    [
      'a time for streams that is not in whole seconds',
      { config: { server: { streamDrain: '5m' } } },
      'config.server.streamDrain is "5m": write it in whole seconds, such as 60s; the pod\'s grace period is computed from it.',
    ],
    [
      'a shutdown delay that is not in whole seconds',
      { config: { server: { shutdownDelay: '1m' } } },
      'config.server.shutdownDelay is "1m": write it in whole seconds, such as 15s; the pod\'s grace period is computed from it.',
    ],
  ])('end the rendering with a sentence: %s', async (_, values, sentence) => {
    await expect(render(values)).rejects.toThrow(`: ${sentence}\n`);
  });
});

describe('the schema', () => {
  test.each([
    ['an unknown value', { replicas: 1 }, "at '': additional properties 'replicas' not allowed"],
    [
      'a platform that is no DNS label',
      { platform: 'Gate_house' },
      "at '/platform': 'Gate_house' does not match pattern",
    ],
    ['a digest that is none', { image: { digest: 'latest' } }, "at '/image/digest': 'latest' does not match pattern"],
    ['an issuer with a trailing slash', { issuer: 'https://a.example.com/' }, "at '/issuer'"],
    ['a type of Service that there is not', { service: { type: 'ExternalName' } }, "at '/service/type'"],
    ['a session store that there is not', { sessions: { store: 'redis' } }, "at '/sessions/store'"],
    ['no replica', { replicaCount: 0 }, "at '/replicaCount'"],
  ])('refuses %s', async (_, values, message) => {
    await expect(render(values)).rejects.toThrow(message);
  });

  test('describes each value of values.yaml, and no other', () => {
    const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Schema;
    const values = parseDocument(readFileSync(join(CHART, 'values.yaml'), 'utf8')).toJS() as object;
    const described = paths(schema, { ...values, global: {} });
    expect(described).toEqual([]);
  });
});

interface Schema {
  readonly properties?: Record<string, Schema>;
  readonly additionalProperties?: unknown;
}

/** Where schema and values differ. `global` is a free-form map, and `config` is described by the program's own schema. */
function paths(schema: Schema, values: object, at = ''): string[] {
  if (schema.additionalProperties !== false || at === '.config') return [];
  const names = new Set([...Object.keys(schema.properties ?? {}), ...Object.keys(values)]);
  return [...names].flatMap((name) => {
    const inner = schema.properties?.[name];
    const value = (values as Record<string, unknown>)[name];
    if (inner === undefined || value === undefined) return [`${at}.${name}`];
    return typeof value === 'object' && value !== null ? paths(inner, value, `${at}.${name}`) : [];
  });
}

test('every value has a comment of a full sentence above it', () => {
  const text = readFileSync(join(CHART, 'values.yaml'), 'utf8');
  const root = parseDocument(text).contents as YAMLMap;
  const lines = text.split('\n');
  const leaves = (map: YAMLMap): string[] =>
    map.items.flatMap(({ key, value }) => {
      if (!isScalar(key) || !key.range) return [];
      const line = text.slice(0, key.range[0]).split('\n').length - 1;
      const commented = /^\s*# .*\.$/.test(lines[line - 1] ?? '');
      if (commented) return [];
      return isMap(value) && value.items.length > 0 ? leaves(value as YAMLMap) : [String(key.value)];
    });
  expect(leaves(root)).toEqual([]);
});

describe('values', () => {
  test('a digest takes the place of the tag', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const { container } = await render({ image: { repository: 'r.example.com/g', digest } });
    expect(container.image).toBe(`r.example.com/g@${digest}`);
  });

  test('the tag is the chart’s appVersion unless set', async () => {
    expect((await render()).container.image).toBe('ghcr.io/gatehouse/gatehouse:0.1.0');
    expect((await render({ image: { tag: '9.9.9' } })).container.image).toBe('ghcr.io/gatehouse/gatehouse:9.9.9');
  });

  test.each([
    ['the Service’s address inside the cluster', {}, 'http://gatehouse.gatehouse-system.svc/oauth'],
    [
      'with its port where that is not 80',
      { service: { port: 8080 } },
      'http://gatehouse.gatehouse-system.svc:8080/oauth',
    ],
    [
      'https with a certificate',
      { service: { port: 443 }, tls: { existingSecret: 'c' } },
      'https://gatehouse.gatehouse-system.svc/oauth',
    ],
    ['what issuer says', { issuer: 'https://g.example.com/oauth' }, 'https://g.example.com/oauth'],
  ])('the issuer is %s', async (_, values, issuer) => {
    expect((await render(values)).config).toMatchObject({ authentication: { oauthOptions: { issuer } } });
  });

  test('config is merged over what the chart writes', async () => {
    const config = { log: { level: 'debug' }, authentication: { multipleLogin: false } };
    expect((await render({ config })).config).toEqual({
      platform: 'gatehouse',
      accounts: { enabled: false },
      gateway: { enabled: false },
      server: { port: 9090, metricsPort: 9091, shutdownDelay: '15s' },
      authentication: { multipleLogin: false, oauthOptions: { issuer: 'http://gatehouse.gatehouse-system.svc/oauth' } },
      users: { firstAdministrator: { secretName: 'gatehouse-first-administrator' } },
      sessions: { store: 'kubernetes' },
      keys: { secretName: 'gatehouse-signing-keys' },
      log: { level: 'debug' },
    });
  });

  test('firstAdministrator: false in config switches the first administrator off', async () => {
    const { config } = await render({ config: { users: { firstAdministrator: false } } });
    expect(config).toMatchObject({ users: { firstAdministrator: false } });
  });

  test('names of what belongs to the whole cluster carry the namespace, so that a release of one name may be in two', async () => {
    const { objects } = await render();
    const names = objects.filter(({ kind }) => kind.startsWith('Cluster')).map(({ metadata }) => metadata.name);
    expect(new Set(names)).toEqual(
      new Set(['gatehouse-system:gatehouse', 'gatehouse-system:gatehouse:administrators']),
    );
  });

  test('fullnameOverride and nameOverride replace what the names and labels are made of', async () => {
    const { objects } = await render({ fullnameOverride: 'door', nameOverride: 'gate' });
    const named = /^(gatehouse-system:)?door\b/;
    expect(objects.map(({ metadata }) => metadata.name).filter((name) => !named.test(name))).toEqual([]);
    const labels = objects.map(({ metadata }) => metadata.labels?.['app.kubernetes.io/name']);
    expect(new Set(labels)).toEqual(new Set(['gate']));
  });

  test('the release’s name is part of every name', async () => {
    const { objects } = await render({}, 'blue');
    const named = /^(gatehouse-system:)?blue-gatehouse\b/;
    expect(objects.map(({ metadata }) => metadata.name).filter((name) => !named.test(name))).toEqual([]);
  });
});
