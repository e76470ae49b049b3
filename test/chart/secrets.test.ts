import { describe, expect, test } from 'vitest';
import { NAMESPACE, type Rendered, render } from './helm.ts';

const everything = {
  users: { existingSecret: 'people' },
  oauth: { client: { existingSecret: 'console-client' } },
  tokenReview: { existingSecret: 'webhook-caller' },
  tls: { existingSecret: 'certificate' },
  logging: {
    host: 'https://opensearch.logging.svc:9200',
    username: 'gatehouse',
    existingSecret: 'log-store',
    ca: { existingSecret: 'log-store-ca' },
  },
  networkPolicy: { enabled: true },
  metrics: { podMonitor: { enabled: true, tlsConfig: { serverName: 'gatehouse.example.com' } } },
};

describe('what KubeSphere 3.4’s chart did', () => {
  test('no signing secret is in a ConfigMap, nor any other secret', async () => {
    const { configFile } = await render(everything);
    expect(configFile).not.toMatch(/^\s*(-\s*)?(secret|password|passwordHash|jwtSecret|signKey\w*|token|key):/im);
  });

  test('a client secret given in config is refused, since config ends up in a ConfigMap', async () => {
    const clients = [{ name: 'console', secret: 'anything' }];
    const answer = render({ config: { authentication: { oauthOptions: { clients } } } });
    await expect(answer).rejects.toThrow(
      'the OAuth client "console" has a secret in config, which would end up in a ConfigMap; put it into a Secret, mount that by oauth.client.existingSecret or extraVolumes, and use secretFile.',
    );
    await expect(answer).rejects.not.toThrow('anything');
  });

  test('no Secret is rendered, so that no upgrade can replace one', async () => {
    expect((await render(everything)).all('Secret')).toEqual([]);
  });

  test('no password is published: nothing rendered carries one', async () => {
    const text = JSON.stringify((await render(everything)).objects);
    const file = 'passwordFile: /var/run/secrets/gatehouse/log-store/password';
    expect(text.replace(file, '')).not.toMatch(/password/i);
  });

  test('nothing is bound to cluster-admin or another role of the cluster’s own', async () => {
    const rendered = await render(everything);
    const bound = [...bindings(rendered, 'ClusterRoleBinding'), ...bindings(rendered, 'RoleBinding')];
    expect(new Set(bound)).toEqual(
      new Set(['gatehouse', `${NAMESPACE}:gatehouse`, `${NAMESPACE}:gatehouse:administrators`]),
    );
  });

  test('nothing of the host is mounted', async () => {
    expect((await render(everything)).text).not.toContain('hostPath');
  });

  test('there is a readiness probe', async () => {
    expect((await render()).container.readinessProbe?.httpGet?.path).toBe('/readyz');
  });
});

const bindings = (rendered: Rendered, kind: string): string[] =>
  rendered.all<{ roleRef: { name: string } }>(kind).map(({ roleRef }) => roleRef.name);

describe('secrets', () => {
  test('8.2 no secret is in the environment', async () => {
    const { container } = await render(everything);
    expect(container.env?.map(({ name }) => name)).toEqual(['NODE_OPTIONS']);
    expect(container.envFrom).toBeUndefined();
  });

  test('8.2 an existing Secret is mounted as files for one group, read-only', async () => {
    const { pod, container, config } = await render(everything);
    for (const [volume, secretName] of [
      ['users', 'people'],
      ['oauth-client', 'console-client'],
      ['token-review', 'webhook-caller'],
      ['tls', 'certificate'],
    ]) {
      expect(pod.volumes?.find(({ name }) => name === volume)).toEqual({
        name: volume,
        secret: { secretName, defaultMode: 0o440 },
      });
      expect(container.volumeMounts?.find(({ name }) => name === volume)).toEqual({
        name: volume,
        mountPath: `/var/run/secrets/gatehouse/${volume}`,
        readOnly: true,
      });
    }
    expect(config).toMatchObject({
      users: { file: '/var/run/secrets/gatehouse/users/users.yaml' },
      authentication: {
        oauthOptions: {
          clients: [{ name: 'gatehouse', secretFile: '/var/run/secrets/gatehouse/oauth-client/secret' }],
        },
        tokenReview: { callerTokenFile: '/var/run/secrets/gatehouse/token-review/token' },
      },
    });
  });
});
