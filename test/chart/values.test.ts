import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isMap, isScalar, parseDocument, type YAMLMap } from 'yaml';
import { CHART, helm, NAMESPACE, render } from './helm.ts';

describe('contradictory values', () => {
  test.each([
    [
      'more replicas than one with sessions in memory',
      { replicaCount: 2 },
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
      'a ServiceMonitor without the Service that it looks for',
      { metrics: { service: false, serviceMonitor: true } },
      'metrics.serviceMonitor is true, but metrics.service is false: a ServiceMonitor finds the pods through that Service; set both.',
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
    ['a null in config', { config: { log: { level: null } } }, "at '/config/log/level': got null"],
    [
      'a section of config that is no map',
      { config: { server: 'fast' } },
      "at '/config/server': got string, want object",
    ],
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

/** Where schema and values differ; free-form maps (`config`, `global`) are not looked into. */
function paths(schema: Schema, values: object, at = ''): string[] {
  if (schema.additionalProperties !== false) return [];
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
  test('a digest wins over the tag', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const { container } = await render({ image: { repository: 'r.example.com/g', tag: '9.9.9', digest } });
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
      server: { port: 9090, metricsPort: 9091, shutdownDelay: '15s' },
      authentication: { multipleLogin: false, oauthOptions: { issuer: 'http://gatehouse.gatehouse-system.svc/oauth' } },
      users: { firstAdministrator: { secretName: 'gatehouse-first-administrator' } },
      sessions: { store: 'memory' },
      keys: { secretName: 'gatehouse-signing-keys' },
      log: { level: 'debug' },
    });
  });

  test('firstAdministrator: false in config switches the first administrator off', async () => {
    const { config } = await render({ config: { users: { firstAdministrator: false } } });
    expect(config).toMatchObject({ users: { firstAdministrator: false } });
  });

  test('the release’s name is part of every name', async () => {
    const { objects } = await render({}, 'blue');
    expect(objects.map(({ metadata }) => metadata.name).filter((name) => !name.startsWith('blue-gatehouse'))).toEqual(
      [],
    );
  });
});

describe('NOTES', () => {
  const notes = async (values: object): Promise<string[]> => {
    const args = ['install', 'gatehouse', CHART, '--namespace', NAMESPACE, '--dry-run=client', '--values', '-'];
    const answer = await helm(args, JSON.stringify(values));
    return answer
      .slice(answer.indexOf('NOTES:\n') + 7)
      .trim()
      .split('\n');
  };

  test('say the address, how to read the node port and the first password', async () => {
    expect(await notes({})).toEqual([
      'Gatehouse answers inside the cluster at http://gatehouse.gatehouse-system.svc, outside at a port of every node:',
      "  kubectl -n gatehouse-system get service gatehouse -o jsonpath='{.spec.ports[0].nodePort}'",
      'The first administrator is "admin"; the password, once the pod is ready:',
      "  kubectl -n gatehouse-system get secret gatehouse-first-administrator -o jsonpath='{.data.password}' | base64 -d",
    ]);
  });

  test('say the node port when it is set, and nothing of an administrator that there is not', async () => {
    expect(await notes({ service: { nodePort: 30880 }, config: { users: { firstAdministrator: false } } })).toEqual([
      'Gatehouse answers inside the cluster at http://gatehouse.gatehouse-system.svc, outside at port 30880 of every node.',
    ]);
  });
});
