import { KubeConfig } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseCommand } from '../../../src/cli/arguments.ts';
import { kubeconfigText } from '../../../src/cli/login/kubeconfig/kubeconfig.ts';
import type { KubeconfigRequest } from '../../../src/cli/login/login-arguments.ts';
import { selfSigned } from '../../support/self-signed.ts';

const SERVER = 'https://gatehouse.example.com:8443/k8s';
const { cert } = selfSigned('gatehouse.example.com');

function textOf(args: readonly string[], authority?: string): string {
  const command = parseCommand(['kubeconfig', '--server', SERVER, ...args], undefined);
  if (command.kind !== 'client') throw new Error(JSON.stringify(command));
  return kubeconfigText(command.request as KubeconfigRequest, { authority });
}

describe('the kubeconfig', () => {
  test('K-08 is what Kubernetes calls one: the least of it', () => {
    expect(parse(textOf([]))).toEqual({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'gatehouse.example.com:8443', cluster: { server: SERVER } }],
      users: [
        {
          name: 'gatehouse@gatehouse.example.com:8443',
          user: {
            exec: {
              apiVersion: 'client.authentication.k8s.io/v1',
              command: 'gatehouse',
              args: ['login', `--server=${SERVER}`, '--print=credential'],
              interactiveMode: 'IfAvailable',
              provideClusterInfo: false,
              installHint: expect.stringContaining('not in PATH'),
            },
          },
        },
      ],
      contexts: [
        {
          name: 'gatehouse.example.com:8443',
          context: { cluster: 'gatehouse.example.com:8443', user: 'gatehouse@gatehouse.example.com:8443' },
        },
      ],
      'current-context': 'gatehouse.example.com:8443',
    });
  });

  test('K-08 is read by a client library, with authority, namespace, names and the options of the sign-in', () => {
    const names = ['--username', 'ada', '--namespace', 'shop', '--name', 'prod', '--command', '/opt/gatehouse'];
    const files = [
      '--password-file',
      '/pw',
      '--client-id',
      'cli',
      '--client-secret-file',
      '/s',
      '--session-file',
      '/f',
    ];
    const config = new KubeConfig();
    config.loadFromString(textOf([...names, ...files], cert));
    const data = Buffer.from(cert).toString('base64');
    expect(config.getCurrentCluster()).toMatchObject({
      name: 'prod',
      server: SERVER,
      caData: data,
      skipTLSVerify: false,
    });
    expect(config.getContextObject('prod')).toEqual({
      name: 'prod',
      cluster: 'prod',
      user: 'ada@prod',
      namespace: 'shop',
    });
    expect(config.getCurrentUser()?.exec).toMatchObject({
      command: '/opt/gatehouse',
      args: [
        'login',
        `--server=${SERVER}`,
        '--print=credential',
        '--username=ada',
        '--client-id=cli',
        '--client-secret-file=/s',
        '--password-file=/pw',
        '--session-file=/f',
        `--certificate-authority-data=${data}`,
      ],
    });
  });

  test('runs a sign-in that is understood, with the same authority', () => {
    const { args } = parse(textOf(['--username', 'ada'], cert)).users[0].user.exec;
    expect(parseCommand(args, undefined)).toEqual({
      kind: 'client',
      request: {
        action: 'login',
        server: SERVER,
        clientId: 'gatehouse',
        username: 'ada',
        print: 'credential',
        certificateAuthorityData: Buffer.from(cert).toString('base64'),
      },
    });
  });
});
