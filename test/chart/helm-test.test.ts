import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1Pod } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { passwordOf, startCluster, startService } from '../integration/service/stand.ts';
import { atEnd } from '../support/at-end.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { selfSigned } from '../support/self-signed.ts';
import { startTlsFront } from '../support/tls-front.ts';
import { CHART, helm, NAMESPACE, render, renderTest } from './helm.ts';

const tls = { existingSecret: 'certificate' };
const containerOf = (pod: V1Pod) => pod.spec!.containers[0]!;
const environmentOf = (pod: V1Pod): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(containerOf(pod).env?.map(({ name, value }) => [name, value]) ?? []);
const secretsOf = (pod: V1Pod) =>
  pod.spec!.volumes?.flatMap(({ secret, projected }) =>
    secret
      ? { name: secret.secretName, items: secret.items?.map(({ path }) => path) }
      : (projected?.sources ?? []).map((one) => ({
          name: one.secret?.name,
          items: one.secret?.items?.map(({ path }) => path),
        })),
  );

describe('the pod of helm test', () => {
  test('runs the program’s image, as restricted as the program, with no account', async () => {
    const pod = await renderTest();
    const rendered = await render();
    expect(pod.metadata?.annotations?.['helm.sh/hook']).toBe('test');
    expect(containerOf(pod)).toMatchObject({
      image: rendered.container.image,
      command: ['/nodejs/bin/node'],
      securityContext: rendered.container.securityContext,
    });
    expect(pod.spec).toMatchObject({
      securityContext: rendered.pod.securityContext,
      automountServiceAccountToken: false,
      restartPolicy: 'Never',
    });
  });

  test('is no replica: no Service, budget or monitor selects it', async () => {
    const { matchLabels } = (await render()).one<{ spec: { selector: { matchLabels: object } } }>('Deployment').spec
      .selector;
    expect((await renderTest()).metadata?.labels).not.toMatchObject(matchLabels);
  });

  test('goes where the replicas go, and finds names as they do', async () => {
    const values = {
      hostAliases: [{ ip: '10.96.0.7', hostnames: ['gatehouse.gatehouse-system.svc'] }],
      dnsConfig: { options: [{ name: 'ndots', value: '1' }] },
      imagePullSecrets: [{ name: 'registry' }],
      tolerations: [{ operator: 'Exists' }],
      priorityClassName: 'system-cluster-critical',
    };
    expect((await renderTest(values)).spec).toMatchObject(values);
  });

  test('signs the first administrator in, at the Service', async () => {
    const config = { users: { firstAdministrator: { name: 'root', secretName: 'first' } } };
    const pod = await renderTest({ config, platform: 'kubesphere', service: { port: 8080 } });
    expect(environmentOf(pod)).toEqual({
      GATEHOUSE_URL: 'http://gatehouse.gatehouse-system.svc:8080',
      ADDRESS: '$(GATEHOUSE_SERVICE_HOST)',
      PLATFORM: 'kubesphere',
      CREDENTIALS: '/var/run/secrets/gatehouse/test',
      USERNAME: 'root',
    });
    expect(secretsOf(pod)).toEqual([{ name: 'first', items: ['password'] }]);
  });

  test('signs in by the client’s own secret, and over TLS with the certificate but not its key', async () => {
    const pod = await renderTest({ tls, oauth: { client: { existingSecret: 'console' } } });
    expect(environmentOf(pod)['CERTIFICATE']).toBe('/var/run/secrets/gatehouse/tls/tls.crt');
    expect(secretsOf(pod)).toEqual([
      { name: 'gatehouse-first-administrator', items: ['password'] },
      { name: 'console', items: ['clientSecret'] },
      { name: 'certificate', items: ['tls.crt'] },
    ]);
  });

  test('signs in with the Secret that is set', async () => {
    const values = { helmTest: { existingSecret: 'tester' }, config: { users: { firstAdministrator: false } } };
    const pod = await renderTest(values);
    expect(secretsOf(pod)).toEqual([{ name: 'tester', items: undefined }]);
    expect(environmentOf(pod)['USERNAME']).toBeUndefined();
  });

  test('does not sign in where it knows nobody', async () => {
    const pod = await renderTest({ config: { users: { firstAdministrator: false } } });
    expect([environmentOf(pod)['CREDENTIALS'], secretsOf(pod)]).toEqual([undefined, undefined]);
  });

  test('can be left out', async () => {
    const args = ['template', 'gatehouse', CHART, '--namespace', NAMESPACE, '--set', 'helmTest.enabled=false'];
    expect(await helm(args)).not.toContain('helm.sh/hook');
  });
});

/** What the pod does, here: the same program with the same variables, and files for the mounted Secrets. */
async function run(url: string, files: Readonly<Record<string, string>>, cert?: string, address = '$(A_SERVICE_HOST)') {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-helm-test-'));
  atEnd(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries({ ...files, certificate: cert ?? '' }))
    writeFileSync(join(folder, name), text);
  const env = {
    GATEHOUSE_URL: url,
    ADDRESS: address,
    PLATFORM: 'gatehouse',
    ...(Object.keys(files).length > 0 && { CREDENTIALS: folder }),
    ...(cert && { CERTIFICATE: join(folder, 'certificate') }),
  };
  const child = spawn(process.execPath, containerOf(await renderTest()).args!, { env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, lines: output.trim().split('\n') };
}

const ada = { username: 'ada', password: passwordOf('ada') };

describe('what it runs', () => {
  test('signs in, lists the nodes and signs out', async () => {
    const { gatehouse } = await startService(await startCluster());
    expect(await run(gatehouse.origin, ada)).toEqual({
      code: 0,
      lines: [
        'GET /readyz: 200',
        'a list without a token: 401',
        'the sign-in: 200',
        'the list of nodes: 200',
        'the cluster has 3 nodes',
        'the sign-out: 200',
      ],
    });
  });

  test('needs no DNS where it is told the Service’s address', async () => {
    const { gatehouse } = await startService(await startCluster());
    const url = `http://gatehouse.gatehouse-system.svc:${gatehouse.port}`;
    expect(await run(url, ada, undefined, '127.0.0.1')).toMatchObject({ code: 0 });
  });

  test('waits for a Service that refuses connections, because it has not heard of the pod yet', async () => {
    const { gatehouse } = await startService(await startCluster());
    const [port = 0] = await freePorts(1);
    const running = run(`http://127.0.0.1:${port}`, ada);
    await sleep(2_000); // the first question comes before that
    const service = createServer((client) => {
      const pod = connect(gatehouse.port, '127.0.0.1');
      for (const socket of [client, pod]) socket.on('error', () => socket.destroy());
      client.pipe(pod).pipe(client);
    }).listen(port, '127.0.0.1');
    atEnd(() => service.close());
    expect(await running).toMatchObject({ code: 0 });
  });

  test('takes a client of its own, whose secret ends in a newline', async () => {
    const clients = [{ name: 'tests', secret: 'a secret: with 100 % of signs' }];
    const { gatehouse } = await startService(await startCluster(), {
      config: { authentication: { oauthOptions: { clients } } },
    });
    const files = { ...ada, clientId: 'tests', clientSecret: 'a secret: with 100 % of signs\n' };
    expect(await run(gatehouse.origin, files)).toMatchObject({ code: 0 });
  });

  test('fails with the step that failed, and says no password', async () => {
    const { gatehouse } = await startService(await startCluster());
    const wrong = await run(gatehouse.origin, { ...ada, password: 'a wrong canary' });
    expect([wrong.code, wrong.lines.at(-1)]).toEqual([1, 'the sign-in was answered 400 instead of 200']);
    expect(wrong.lines.join()).not.toContain('canary');
    const forbidden = await run(gatehouse.origin, { username: 'joe', password: passwordOf('joe') });
    expect([forbidden.code, forbidden.lines.at(-1)]).toEqual([1, 'the list of nodes was answered 403 instead of 200']);
  });

  test('without anybody to sign in, asks whether it is ready and refuses strangers', async () => {
    const { gatehouse } = await startService(await startCluster());
    expect(await run(gatehouse.origin, {})).toEqual({
      code: 0,
      lines: [
        'GET /readyz: 200',
        'a list without a token: 401',
        'nobody can sign in here: set helmTest.existingSecret',
      ],
    });
  });

  test('trusts the Service’s own certificate, whatever its names, and no other', async () => {
    const { gatehouse } = await startService(await startCluster());
    const own = selfSigned('gatehouse.example.com');
    const front = await startTlsFront(gatehouse.port, own);
    atEnd(() => front.stop());
    const url = `https://localhost:${front.port}`;
    expect(await run(url, ada, own.cert)).toMatchObject({ code: 0 });
    const other = await run(url, ada, selfSigned('gatehouse.example.com').cert);
    expect([other.code, other.lines]).toEqual([1, [expect.stringContaining('certificate')]]);
  });
});
