import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compare } from '@node-rs/bcrypt';
import { describe, expect, test } from 'vitest';
import { kubeconfigText } from '../../../dev/cluster/kubeconfig.ts';
import { HELP } from '../../../src/cli/arguments.ts';
import { runProgram, writeFiles } from './program.ts';

const project = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');

describe('the command line', () => {
  test('--version prints the version', async () => {
    const { version } = JSON.parse(project('package.json')) as { version: string };
    expect(await runProgram(['--version'])).toEqual({ code: 0, stdout: `gatehouse v${version}\n`, stderr: '' });
  });

  test('--help prints the usage', async () => {
    expect(await runProgram(['--help'])).toEqual({ code: 0, stdout: HELP, stderr: '' });
  });

  test('--config-schema prints what config.schema.json holds', async () => {
    expect(await runProgram(['--config-schema'])).toEqual({
      code: 0,
      stdout: project('config.schema.json'),
      stderr: '',
    });
  });

  test('an unknown option is one line and exit code 2', async () => {
    const { code, stdout, stderr } = await runProgram(['--confg', 'x']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^gatehouse: .*--confg.*; see gatehouse --help\n$/);
  });
});

describe('import-config', () => {
  const OLD =
    'authentication: {jwtSecret: canary-jwt, multipleLogin: false}\nlogging: {host: "http://store:9200", username: u, password: canary-pw}\n';

  test('prints a configuration that the check finds good, and writes secrets for their owner only', async () => {
    const { old } = writeFiles({ old: OLD });
    const folder = join(dirname(old), 'secrets');
    const { code, stdout, stderr } = await runProgram(['import-config', old, '--secrets', folder]);
    expect([code, stderr]).toEqual([0, `wrote ${folder}/logging-password\n`]);
    expect(stdout).not.toContain('canary');
    expect(readFileSync(join(folder, 'logging-password'), 'utf8')).toBe('canary-pw');
    expect(statSync(join(folder, 'logging-password')).mode & 0o777).toBe(0o600);
    const { config } = writeFiles({ config: stdout });
    expect((await runProgram(['--check-config', '--config', config])).stdout).toBe('the configuration is good\n');
    const again = await runProgram(['import-config', old, '--secrets', folder]);
    expect([again.code, again.stdout]).toEqual([2, '']);
    expect(again.stderr).toMatch(/^gatehouse: cannot write a file with a secret: EEXIST.*\n$/);
  });

  test('prints values of the chart, and writes secrets where it is told to', async () => {
    const { old } = writeFiles({ old: OLD });
    const folder = join(dirname(old), 'secrets');
    const { code, stdout, stderr } = await runProgram(['import-config', old, '--chart', '--secrets', folder]);
    expect([code, stderr]).toEqual([0, `wrote ${folder}/password\n`]);
    expect(stdout).toContain('existingSecret: gatehouse-imported # was logging.password; its key is "password"\n');
    expect(readFileSync(join(folder, 'password'), 'utf8')).toBe('canary-pw');
  });

  test('says in one line why a file is none of KubeSphere’s', async () => {
    const { old } = writeFiles({ old: 'kind: Secret\ndata: {x: canary-secret}\n' });
    const { code, stdout, stderr } = await runProgram(['import-config', old]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toBe(
      `gatehouse: ${old}: the text has no settings of KubeSphere: give the ConfigMap kubesphere-config, or its kubesphere.yaml\n`,
    );
    expect((await runProgram(['import-config', `${old}-none`])).stderr).toMatch(
      /^gatehouse: cannot read the file: ENOENT/,
    );
  });
});

describe('--check-config', () => {
  test('says that a good file is good', async () => {
    const { config } = writeFiles({ config: 'platform: kubesphere\n' });
    const { code, stdout } = await runProgram(['--config', config, '--check-config']);
    expect([code, stdout]).toEqual([0, 'the configuration is good\n']);
  });

  test('prints warnings beside it', async () => {
    const { config } = writeFiles({ config: 'authorization: {mode: AlwaysAllow}\n' });
    const { code, stderr } = await runProgram(['--config', config, '--check-config']);
    expect(code).toBe(0);
    expect(stderr).toContain('warning: authorization.mode is AlwaysAllow');
  });

  test('refuses an age of data that a healthy cluster reaches', async () => {
    const { config } = writeFiles({ config: 'nodes: {maxStaleness: 1m}\nauthorization: {maxStaleness: none}\n' });
    const { code, stderr } = await runProgram(['--config', config, '--check-config']);
    expect(code).toBe(2);
    expect(stderr).toContain('nodes.maxStaleness: must be none, or at least 2m');
    expect(stderr).toContain('authorization.maxStaleness: expected a duration');
  });

  test('names every problem of a bad file at once', async () => {
    const text = 'platfrom: x\nserver: {port: 99999}\nauthentication: {jwtSecret: canary-jwt-secret}\n';
    const { config } = writeFiles({ config: text });
    const { code, stdout, stderr } = await runProgram(['--config', config, '--check-config']);
    expect([code, stdout]).toEqual([2, '']);
    const lines = stderr.trimEnd().split('\n');
    expect(lines[0]).toBe(`gatehouse: ${config} cannot be used:`);
    expect(lines).toHaveLength(4);
    for (const setting of ['platfrom', 'server.port', 'authentication.jwtSecret']) expect(stderr).toContain(setting);
    expect(stderr).not.toContain('canary-jwt-secret');
  });

  test('reads the file that GATEHOUSE_CONFIG names', async () => {
    const { config } = writeFiles({ config: 'platfrom: x\n' });
    const { code, stderr } = await runProgram(['--check-config'], { env: { GATEHOUSE_CONFIG: config } });
    expect([code, stderr.split('\n')[0]]).toEqual([2, `gatehouse: ${config} cannot be used:`]);
  });
});

/** A configuration whose kubeconfig is that of a loopback cluster, changed. */
function withKubeconfig(change: (text: string) => string, settings: object = {}): string {
  const { kubeconfig } = writeFiles({ kubeconfig: change(kubeconfigText('https://127.0.0.1:1', 'canary-token')) });
  return writeFiles({ config: JSON.stringify({ kubernetes: { kubeconfig }, ...settings }) })['config'] as string;
}

describe('KC-06 --check-config of a kubeconfig', () => {
  const member = (text: string) => (file: string) => file.replace('server:', `${text}\n      server:`);

  test.each([
    ['an authority of no certificate', member('certificate-authority-data: DATA+OMITTED')],
    ['an authority that is not there', member('certificate-authority: missing.crt')],
    ['a token in clear text', (file: string) => file.replace('https://127.0.0.1:1', 'http://192.0.2.1')],
    ['a user that is not there', (file: string) => file.replace('user: user', 'user: nobody')],
    ['a token file that is not there', (file: string) => file.replace('token: canary-token', 'tokenFile: missing')],
    ['an unknown tag', (file: string) => file.replace('canary-token', '!Sub canary-token')],
  ])('finds with %s what a start finds', async (_what, change) => {
    const config = withKubeconfig(change);
    const checked = await runProgram(['--config', config, '--check-config']);
    const started = await runProgram(['--config', config]);
    const sentence = /kubernetes\.kubeconfig: (.*)\n/.exec(checked.stderr)?.[1] ?? 'none';
    expect([checked.code, checked.stdout]).toEqual([2, '']);
    expect([started.code === 0, started.stderr]).toEqual([false, `gatehouse: ${sentence}\n`]);
    expect(checked.stderr + started.stderr + started.stdout).not.toContain('canary-token');
  });

  test('finds it in the file of KUBECONFIG as well, and is silent where nothing names a cluster', async () => {
    const { kubeconfig = '', config = '' } = writeFiles({ kubeconfig: 'kind: Pod', config: 'platform: kubesphere' });
    const named = await runProgram(['--config', config, '--check-config'], { env: { KUBECONFIG: kubeconfig } });
    expect([named.code, named.stderr]).toEqual([2, expect.stringContaining('it is of another kind than Config')]);
  });

  test('finds a proxy of the environment that cannot be used', async () => {
    const config = withKubeconfig((text) => text.replace('127.0.0.1', '192.0.2.1'));
    const env = { HTTPS_PROXY: 'socks5://u:canary-token@p' };
    const { code, stderr } = await runProgram(['--config', config, '--check-config'], { env });
    expect([code, stderr]).toEqual([2, expect.stringContaining('names a proxy with socks5:// in HTTPS_PROXY')]);
    expect(stderr).not.toContain('canary-token');
  });

  test('finds a user to be taken for, whom the gateway cannot be', async () => {
    const config = withKubeconfig((text) => text.replace('token:', 'as: jane\n      token:'), {
      gateway: { enabled: true },
    });
    const { code, stderr } = await runProgram(['--config', config, '--check-config']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('whose user impersonates nobody')]);
  });

  test('prints what is not followed as a warning', async () => {
    const config = withKubeconfig(member('api-version: v1'));
    const { code, stderr } = await runProgram(['--config', config, '--check-config']);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^warning: .*"api-version", which is not read\n$/m)]);
  });
});

describe('hash-password', () => {
  test('prints a hash of the line on standard input, and not the password', async () => {
    const { code, stdout, stderr } = await runProgram(['hash-password'], { stdin: 'canary password ä\n' });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^\$2[aby]\$10\$[./A-Za-z0-9]{53}\n$/);
    expect(await compare('canary password ä', stdout.trimEnd())).toBe(true);
  });

  test('makes it as costly as the configuration says', async () => {
    const { config } = writeFiles({ config: 'authentication: { passwordHash: { cost: 11 } }\n' });
    const { stdout } = await runProgram(['hash-password', '--config', config], { stdin: 'canary password\n' });
    expect(stdout).toMatch(/^\$2[aby]\$11\$/);
  });

  test('refuses a password that is too long', async () => {
    expect(await runProgram(['hash-password'], { stdin: 'a'.repeat(73) })).toEqual({
      code: 2,
      stdout: '',
      stderr: 'gatehouse: a password has 1 to 72 bytes, this one has 73\n',
    });
  });
});

describe('a start that cannot succeed', () => {
  const kubeconfig = kubeconfigText('http://127.0.0.1:1', 'canary-cluster-token');

  test('with a bad configuration ends with 2, like its check', async () => {
    const { config } = writeFiles({ config: 'platfrom: x\n' });
    const { code, stdout, stderr } = await runProgram(['--config', config]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('platfrom');
  });

  test('with a file that is not there ends with 2', async () => {
    const { code, stderr } = await runProgram(['--config', '/nowhere/config.yaml']);
    expect(code).toBe(2);
    expect(stderr).toContain('/nowhere/config.yaml');
  });

  test('with a bad users file ends with 2 and names every problem', async () => {
    const users = 'users: [{name: Ada, passwordHash: canary-not-a-hash}, {nme: joe}]\n';
    const files = writeFiles({ kubeconfig, users });
    const settings = { kubernetes: { kubeconfig: files.kubeconfig }, users: { file: files.users } };
    const { config } = writeFiles({ config: JSON.stringify(settings) });
    const { code, stderr } = await runProgram(['--config', config]);
    expect(code).toBe(2);
    expect(stderr).toContain(`gatehouse: the users file ${files.users} cannot be used:\n`);
    for (const place of ['users[0].name', 'users[0].passwordHash', 'users[1].name', 'users[1].passwordHash'])
      expect(stderr).toContain(place);
    expect(stderr).not.toContain('canary');
    expect(stderr).not.toMatch(/\n {4}at /);
  });

  test('without a cluster to connect to ends with 2 and one line', async () => {
    const { code, stderr } = await runProgram([], { env: { HOME: '/nowhere' } });
    expect(code).toBe(2);
    expect(stderr).toBe(
      'gatehouse: there is no cluster to connect to: no pod service account, no KUBECONFIG and no /nowhere/.kube/config\n',
    );
  });

  test('with a kubeconfig that is not there ends with 2 and one line', async () => {
    const { config } = writeFiles({ config: '{"kubernetes": {"kubeconfig": "/nowhere/kubeconfig"}}' });
    const { code, stderr } = await runProgram(['--config', config]);
    expect(code).toBe(2);
    expect(stderr).toBe(
      "gatehouse: cannot read the kubeconfig /nowhere/kubeconfig: ENOENT: no such file or directory, open '/nowhere/kubeconfig'\n",
    );
  });
});
