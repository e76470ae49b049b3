import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type {
  V1Deployment,
  V1Pod,
  V1PodList,
  V1ReplicaSet,
  V1ReplicaSetList,
  V1Secret,
  V1SecretList,
} from '@kubernetes/client-node';
import { request } from 'undici';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { clusterTool } from '../support/cluster-tools.ts';
import { operationsText } from '../support/operations-pages.ts';
import { hashOf } from '../support/passwords.ts';
import { NEXT, REPOSITORY } from './image/images.ts';
import { NODE_NAME } from './kubernetes/place.ts';
import type { Answer, Caller } from './stand/caller.ts';
import { documentedCommands, documentedFile } from './stand/documented-commands.ts';
import { kubectl } from './stand/kubectl.ts';
import { Release } from './stand/release.ts';
import { Shell } from './stand/shell.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PAGE = operationsText();
const COMMANDS = documentedCommands(PAGE);

/** Commands of the pages that do not run here, each with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'Building the image, 1': 'there is no docker; the tier builds the same Dockerfile with buildah (image/images.ts)',
  'Building the image, 2':
    'signatures are of published images, and the log that vouches for them is not reached from here',
  'Who sees what, 1':
    'it gives rights that would stay for the steps after it; test/cluster/kinds-rights.test.ts gives such rights',
};

interface Step {
  /** What the person has prepared, and what the placeholders of the text stand for. */
  prepare?(): Promise<Readonly<Record<string, string>>>;
  /** Set where the last command ends with a failure when it finds nothing. */
  readonly mayFindNothing?: true;
  /** Whether it came about as the page says. */
  check(stdout: string): Promise<void>;
}

const release = new Release('gatehouse-system');
let folder: string;
let shell: Shell;
let caller: Caller;

const file = (name: string): string => join(folder, name);
const write = (name: string, text: string): Promise<void> => writeFile(file(name), text);
const secretOf = async (name: string, key: string): Promise<string> => {
  const { data } = await release.get<V1Secret>('secret', name);
  return Buffer.from(data![key]!, 'base64').toString();
};

/** Those of the program, also those that are about to end; the pod of `helm test` is none. */
const pods = async (): Promise<readonly V1Pod[]> =>
  (await release.get<V1PodList>('pods', '-l', 'app.kubernetes.io/name=gatehouse')).items;

/** The rollout is over: only the pods that are wanted are left, and one of them answers. */
async function settled(): Promise<void> {
  await release.kubectl(['rollout', 'status', 'deployment/gatehouse']);
  const { spec } = await release.get<V1Deployment>('deployment', 'gatehouse');
  await eventually(pods, ({ length }) => length === spec!.replicas);
  caller = await release.caller();
}

const people = { joe: 'correct horse battery staple' };

async function signIn(username = 'joe', password = people.joe): Promise<Answer> {
  const client_secret = await secretOf('gatehouse-client', 'secret');
  return caller.token({ grant_type: 'password', client_secret, username, password });
}

/** Joe's access token. While pods are replaced, the first answer may come from one that is about to end. */
async function signedIn(): Promise<string> {
  const { body } = await eventually(signIn, ({ status }) => status === 200);
  return body.access_token;
}

const kids = async (): Promise<string[]> =>
  (await caller.get('/oauth/keys')).body.keys.map(({ kid }: { kid: string }) => kid);

/** Of the first administrator, of Joe, and of the active signing key. */
let password: string;
let token: string;
let kid: string;

/** By heading and place, in the order in which a person comes to them. The uninstall is the last. */
const STEPS: Readonly<Record<string, Step>> = {
  'Operations, 1': {
    check: async () => expect((await shell.run('echo "$NS"; kgh get pods')).split('\n')[0]).toBe('gatehouse-system'),
  },
  'Install, 1': {
    prepare: async () => ({ 'REGISTRY/gatehouse': REPOSITORY }),
    check: async (stdout) => expect(stdout).toContain('Gatehouse answers inside the cluster at http://'),
  },
  'Install, 2': {
    check: async (stdout) => {
      expect(stdout).toContain('deployment "gatehouse" successfully rolled out');
      expect(stdout).toMatch(/^Phase: +Succeeded$/m);
      expect(stdout).toContain('the cluster has 1 nodes');
      caller = await release.caller();
    },
  },
  'Install, 3': {
    prepare: async () => {
      await write('config.yaml', await configOfPod());
      return {};
    },
    check: async (stdout) => expect(stdout).toContain('the configuration is good'),
  },
  'A secret for the OAuth client, 1': {
    check: async () => {
      await settled();
      const password = await release.password();
      const refused = await caller.token({ grant_type: 'password', username: 'admin', password });
      expect([refused.status, refused.body.error]).toEqual([401, 'invalid_client']);
      expect((await signIn('admin', password)).status).toBe(200);
    },
  },
  'First sign-in, 1': {
    check: async (stdout) => {
      expect(stdout).toMatch(/^3\d{4}$/m);
      const list = JSON.parse(stdout.split('\n').find((line) => line.startsWith('{'))!);
      expect([list.totalItems, list.items[0].metadata.name]).toEqual([1, NODE_NAME]);
    },
  },
  'First sign-in, 2': {
    check: async () => {
      const before = (await shell.run('printf %s "$PASSWORD"')).trim();
      password = await eventually(
        () => release.password().catch(() => before),
        (text) => text !== before,
      );
    },
  },
  'Users, 1': {
    prepare: async () => {
      await write('password.txt', people.joe);
      return {};
    },
    check: async (stdout) => {
      expect(stdout).toMatch(/^\$2[aby]\$10\$\S{53}\n$/);
      await writeUsers(stdout.trim());
    },
  },
  'Users, 2': {
    check: async () => {
      await settled();
      expect((await signIn()).status).toBe(200);
      expect((await signIn('admin', password)).status).toBe(200);
    },
  },
  'Users, 3': {
    prepare: async () => {
      people.joe = 'another password';
      await writeUsers(await hashOf(people.joe));
      return {};
    },
    check: async () => {
      await hurryKubelet();
      expect((await signIn('joe', 'correct horse battery staple')).status).toBe(400);
      token = await signedIn();
    },
  },
  'Users, 4': {
    check: async () => {
      const answer = await eventually(
        () => caller.list(token),
        ({ status }) => status === 200,
      );
      expect(answer.body.totalItems).toBe(1);
    },
  },
  'Users, 5': {
    check: async (stdout) => expect(stdout).toBe('true'),
  },
  'Service accounts, 1': {
    check: async () => {
      const bearer = (await release.kubectl(['create', 'token', 'default', '--audience=gatehouse'])).trim();
      const { body } = await eventually(
        () => caller.list(bearer),
        ({ status }) => status === 403,
      );
      expect(body.message).toContain('User "system:serviceaccount:gatehouse-system:default"');
    },
  },
  'Service accounts, 2': {
    check: async () => {
      const binding = JSON.parse(await kubectl(['get', 'clusterrolebinding', 'gatehouse-issuer-keys', '-o', 'json']));
      expect(binding.subjects).toEqual([{ kind: 'ServiceAccount', name: 'gatehouse', namespace: 'gatehouse-system' }]);
    },
  },
  'Access tokens for the cluster itself, 1': {
    check: async () => {
      await settled();
      token = await signedIn();
      expect(await reviewed(token, 'another bearer')).toEqual([401, undefined]);
      expect(await reviewed(token, await secretOf('gatehouse-webhook', 'token'))).toEqual([200, 'joe']);
    },
  },
  'Probes, 1': {
    check: async (stdout) => {
      expect(stdout).toContain('[+]access-reviews ok');
      expect(stdout).toContain('readyz check passed');
    },
  },
  'Rights, 1': {
    prepare: async () => {
      const upgrade = 'helm upgrade gatehouse charts/gatehouse -n $NS --reset-then-reuse-values';
      await shell.run(`${upgrade} --set accounts.enabled=true --wait\n`);
      await settled();
      return {};
    },
    check: async (stdout) => {
      const lines = stdout.trim().split('\n');
      expect(lines.slice(0, 9)).toEqual(Array(9).fill('yes'));
      expect(lines.slice(9).join('\n')).toMatch(/^users +\[\] +\[admin\] +\[impersonate\]$/m);
    },
  },
  'Logs, 1': {
    mayFindNothing: true, // no error was logged
    prepare: async () => {
      token = await signedIn();
      const { requestId } = await auditLine('sign_in');
      await logged('"route":"/oauth/token"', `"requestId":"${requestId}"`); // this line may come a moment after that of the audit
      return { '5f0c2e9a7b314d88': requestId };
    },
    check: async (stdout) => {
      const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines).toMatchObject([{ event: 'sign_in' }, { route: '/oauth/token', status: 200 }]);
    },
  },
  'The audit trail, 1': {
    prepare: async () => {
      await caller.token({ grant_type: 'password', username: 'joe', password: people.joe }); // the client's old secret
      await signIn('joe', 'a wrong password');
      await reviewed(token, await secretOf('gatehouse-webhook', 'token'));
      await logged('"wrong_secret"');
      await logged('"token_review"', '"authenticated"');
      const { requestId, sid } = await auditLine('sign_in');
      await shell.run('kgh logs deployment/gatehouse > log\n');
      return { '5f0c2e9a7b314d88': requestId, 'zu9Zd…': sid, '"ada"': '"joe"' };
    },
    check: async (stdout) => {
      for (const part of [
        '"event":"sign_in"',
        '"result":"refused"',
        '"wrong_secret"',
        '"token_review"',
        '"authenticated"',
      ])
        expect(stdout).toContain(part);
    },
  },
  'Upgrade and rollback, 1': {
    prepare: async () => ({ 'image.tag=NEW': `image.tag=${NEXT.tag}` }),
    check: async (stdout) => {
      expect(stdout).toContain('successfully rolled out');
      const { items } = await release.get<V1ReplicaSetList>('replicasets');
      expect(items.map(imageOf)).toContain(`${REPOSITORY}:${NEXT.tag}`);
      await eventually(
        async () => (await caller.get('/version')).body.gitCommit,
        (commit) => commit !== NEXT.gitCommit,
      );
      expect(imageOf(await release.get<V1Deployment>('deployment', 'gatehouse'))).not.toContain(NEXT.tag);
      token = await signedIn(); // the rollback went back to no other setting
    },
  },
  'Rotating signing keys by hand, 1': {
    check: async (stdout) => {
      expect(stdout).toMatch(/published the next signing key \S+/);
      kid = /^(\S+) +active/m.exec(stdout)![1]!;
      expect(await eventually(kids, (all) => all.length === 2)).toContain(kid);
    },
  },
  'A signing key has leaked, 1': {
    prepare: async () => {
      token = await signedIn();
      return { KID: kid };
    },
    check: async (stdout) => {
      expect(stdout).toContain(`revoked the signing key ${kid}`);
      expect(stdout).toContain('signing_key_published');
      await eventually(
        () => release.kubectl(['logs', '-l', 'app.kubernetes.io/name=gatehouse', '--since=5m']),
        (log) => log.includes('signing_key_revoked'),
      );
      // The line may be that of a pod from before the rollback, which has yet to end.
      await eventually(
        () => caller.list(token),
        ({ status }) => status === 401,
      );
      token = await signedIn();
      expect((await caller.list(token)).status).toBe(200);
    },
  },
  'A signing key has leaked, 2': {
    check: async () => {
      await eventually(
        () => caller.list(token),
        ({ status }) => status === 401,
      );
      token = await signedIn();
    },
  },
  'More than one replica, 1': {
    check: async () => {
      await settled();
      expect((await pods()).length).toBe(3);
      const { body } = await signIn();
      const client_secret = await secretOf('gatehouse-client', 'secret');
      const refresh = (refresh_token: string) =>
        caller.token({ grant_type: 'refresh_token', client_secret, refresh_token });
      const records = () => release.get<V1SecretList>('secrets', '-l', 'app.kubernetes.io/component=sessions');
      const first = await refresh(body.refresh_token);
      expect(first.status).toBe(200);
      // One for each user who has refreshed, signed out or was cut off so far: another refresh adds none.
      const { length } = (await records()).items;
      expect(length).toBeGreaterThan(0);
      expect((await refresh(first.body.refresh_token)).status).toBe(200);
      expect((await records()).items.length).toBe(length);
    },
  },
  'Upgrade and rollback, 2': {
    check: async () => {
      const { items } = await release.get<V1SecretList>('secrets');
      expect(items.map(({ metadata }) => metadata!.name)).toEqual(['gatehouse-client', 'gatehouse-webhook', 'people']);
      const kinds = 'deployments,pods,services,roles,rolebindings,configmaps,serviceaccounts,leases';
      const left = async (): Promise<string[]> =>
        (await release.kubectl(['get', kinds, '-o', 'name'])).split('\n').filter((name) => name.includes('gatehouse'));
      expect(await eventually(left, (names) => names.length === 0)).toEqual([]); // its pods take their time to end
      expect(await accountsThatAreLeft()).toContain('user.iam.gatehouse.io/admin');
    },
  },
  'Upgrade and rollback, 3': {
    check: async () => expect(await accountsThatAreLeft()).toEqual([]),
  },
};

/** What an uninstall leaves of users and of what belongs to them. */
async function accountsThatAreLeft(): Promise<string[]> {
  const kinds = 'crd,clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding';
  const definitions = await kubectl(['get', kinds, '-l', 'app.kubernetes.io/name=gatehouse', '-o', 'name']);
  const names = definitions.split('\n').filter((name) => name !== '');
  if (!names.some((name) => name.endsWith('/users.iam.gatehouse.io'))) return names;
  return [...names, ...(await kubectl(['get', 'users.iam.gatehouse.io', '-o', 'name'])).trim().split('\n')];
}

const imageOf = ({ spec }: V1Deployment | V1ReplicaSet): string => spec!.template!.spec!.containers[0]!.image!;

async function configOfPod(): Promise<string> {
  const { spec } = await release.get<V1Deployment>('deployment', 'gatehouse');
  const name = spec!.template.spec!.volumes!.find((volume) => volume.name === 'config')!.configMap!.name!;
  const { data } = await release.get<{ data: Record<string, string> }>('configmap', name);
  return data['config.yaml']!;
}

/** The users file of the page, with a hash in the place of the dots. */
const writeUsers = (hash: string): Promise<void> =>
  write(
    'users.yaml',
    documentedFile(PAGE, 'Users', 'yaml').replace('$2y$10$...', () => hash),
  );

/**
 * The kubelet looks at a pod that has changed at once, and brings Secrets into it then; otherwise within a minute or so.
 * Resolves when Gatehouse uses the changed users file: a sign-in that fails before would count.
 */
async function hurryKubelet(): Promise<void> {
  const [pod] = await pods();
  await release.kubectl(['annotate', 'pod', pod!.metadata!.name!, 'looked-at=now']);
  await eventually(
    () => release.kubectl(['logs', 'deployment/gatehouse']),
    (log) => log.includes('the changed users file is in use'),
  );
}

/** Resolves when the log has a line with all of this: it is there a moment after the answer to the request. */
const logged = (...parts: readonly string[]): Promise<unknown> =>
  eventually(
    () => release.kubectl(['logs', 'deployment/gatehouse']),
    (log) => log.split('\n').some((line) => parts.every((part) => line.includes(part))),
  );

/** The last of these that ended well. The log of a pod is there a moment after the line was written. */
async function auditLine(event: string): Promise<{ readonly requestId: string; readonly sid: string }> {
  const isOne = (line: string): boolean => line.includes(`"event":"${event}"`) && line.includes('"result":"ok"');
  const lines = await eventually(
    async () => (await release.kubectl(['logs', 'deployment/gatehouse'])).split('\n').filter(isOne),
    ({ length }) => length > 0,
  );
  return JSON.parse(lines.at(-1)!);
}

/** The status of a TokenReview by the webhook, and the user that it tells. */
async function reviewed(accessToken: string, bearer: string): Promise<[number, string | undefined]> {
  const answer = await request(`${caller.url}/oauth/authenticate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: accessToken } }),
  });
  const body = (await answer.body.json()) as { status?: { user?: { username: string } } };
  return [answer.statusCode, body.status?.user?.username];
}

/** A checkout, in which the person's own files lie. */
async function checkout(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'gatehouse-operations-'));
  const entries = (await readdir(ROOT)).filter((name) => name !== '.git');
  await Promise.all(entries.map((name) => symlink(join(ROOT, name), join(path, name))));
  return path;
}

/** A namespace that an earlier file has used may still be on its way out. */
const namespaceIsGone = (): Promise<unknown> =>
  eventually(
    () => kubectl(['get', 'namespace', release.namespace, '--ignore-not-found', '-o', 'name']),
    (name) => name === '',
  );

beforeAll(async () => {
  await namespaceIsGone();
  folder = await checkout();
  const tools = await Promise.all([clusterTool('kubectl'), clusterTool('helm')]);
  const PATH = [...tools.map(dirname), process.env['PATH']].join(':');
  shell = new Shell(folder, { ...process.env, PATH, KUBECONFIG: inject('kubeconfig') });
});
afterAll(async () => {
  await shell?.stop();
  await rm(folder, { recursive: true, force: true });
  const left = [
    'clusterrole/gatehouse-readers',
    'clusterrolebinding/gatehouse-readers',
    'clusterrolebinding/gatehouse-issuer-keys',
  ];
  await kubectl(['delete', '--ignore-not-found', ...left]);
  await release.remove();
  await namespaceIsGone();
});

test('each command of docs/operations is followed below, or has a reason not to be', () => {
  const known = [...Object.keys(STEPS), ...Object.keys(NOT_RUN)];
  expect(known.toSorted()).toEqual(COMMANDS.map(({ name }) => name).toSorted());
});

/** Runs the commands of a place of the page and checks what came of them. */
async function follow(name: string): Promise<void> {
  const { prepare, mayFindNothing, check } = STEPS[name]!;
  const { text } = COMMANDS.find((commands) => commands.name === name)!;
  const placeholders = Object.entries((await prepare?.()) ?? {});
  for (const [placeholder] of placeholders) expect(text).toContain(placeholder);
  const replaced = placeholders.reduce((all, [placeholder, value]) => all.replaceAll(placeholder, value), text);
  await check(await shell.run(mayFindNothing ? `${replaced.trimEnd()} || true\n` : replaced));
}

/** These come last. */
const UNINSTALL = ['Upgrade and rollback, 2', 'Upgrade and rollback, 3'];

test.each(Object.keys(STEPS).filter((name) => !UNINSTALL.includes(name)))('docs/operations, %s', follow);

/** What the running text tells people to look at, up to the first pipe: what is searched for need not be there. */
const LOOKS = [...PAGE.matchAll(/`((?:kgh (?:get|describe|logs)|kubectl get|gatehouse keys list) ?[^`|]*)[^`]*`/g)]
  .map(([, command]) => command!.trim())
  .filter((command) => !/ --previous| prometheus| certificate/.test(command)); // no crash, no operator, no cert-manager

test.each([...new Set(LOOKS)])('docs/operations, in the text: %s', async (command) => {
  const [pod] = await pods();
  const names = { POD: pod!.metadata!.name!, NAME: 'people' };
  await shell.run(`${command.replace(/\b(POD|NAME)\b/, (name) => names[name as keyof typeof names])}\n`);
});

test.each(UNINSTALL)('docs/operations, %s', follow);
