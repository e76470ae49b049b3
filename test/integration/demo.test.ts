import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { Program } from './service/program.ts';
import { eventually } from './service/stand.ts';

/** A demo on ports that are free, which has printed what it prints at its start. */
async function startDemo(...args: readonly string[]) {
  const { folder, write } = temporaryFolder();
  const config = write('demo.yaml', 'server: { port: 0, metricsPort: 0 }');
  const demo = new Program(['--config', config, ...args], { module: 'dev/demo.ts', env: { TMPDIR: folder } });
  const printed = await eventually(
    () => demo.output,
    (text) => text.includes('Ctrl-C ends the demo.'),
  );
  return { demo, printed };
}

/** The outputs of the commands, each pasted into a shell that has run the first one. */
async function paste(commands: readonly string[]): Promise<string[]> {
  const [first, ...others] = commands;
  const run = promisify(execFile);
  const outputs = others.map((one) => run('sh', ['-c', `${first}\n${one.replace(' | cut ', ' | head -n 2 | cut ')}`]));
  return (await Promise.all(outputs)).map(({ stdout }) => stdout);
}

test('the demo prints four commands, none with a token, that work when they are pasted', async (context) => {
  needs(context, 'curl and jq');
  const { demo, printed } = await startDemo();
  const commands = printed.split('\n').filter((line) => /^(export|curl) /.test(line));
  expect(commands).toHaveLength(4);
  expect(Math.max(...commands.map(({ length }) => length))).toBeLessThan(220);
  expect(printed).not.toContain('eyJ');
  const [, origin] = / on (http:\S+),/.exec(printed)!;
  const opens = `Open ${origin} in a browser and sign in as admin, or as dana who may see two namespaces only`;
  expect(printed.split('\n').find((line) => line.startsWith('Open'))).toBe(opens);
  expect(printed).toMatch(/^Gatehouse is ready .*\nOpen /m);
  expect(printed).toMatch(/ npm start --silent -- login --browser --server http:\/\/127\.0\.0\.1:\d+\n/);
  const [warnings, watch, logs] = await paste(commands);
  expect(JSON.parse(warnings!)).toMatchObject({ totalItems: 1 });
  expect(watch!.split('\n')[0]).toMatch(/^\{"type":"ADDED"/);
  expect(JSON.parse(logs!).query.records).toHaveLength(3);
  demo.signal('SIGINT');
  expect(await demo.ended).toMatchObject({ code: 0, stderr: '' });
});

test('the demo has a user who may read two namespaces, with their custom resources, and pods that change', async () => {
  const { demo, printed } = await startDemo('--no-logs', '--pod-changes', '50');
  const [, origin] = / on (http:\S+),/.exec(printed)!;
  const [, password = ''] = /^User: dana +Password: (\S+)/m.exec(printed)!;
  const form = new URLSearchParams({ client_id: 'gatehouse', grant_type: 'password', username: 'dana', password });
  const signedIn = await fetch(`${origin}/oauth/token`, { method: 'POST', body: form });
  const { access_token: token } = (await signedIn.json()) as { access_token: string };
  const asDana = async (path: string, signal?: AbortSignal): Promise<Response> =>
    fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` }, ...(signal && { signal }) });
  const certificates = '/apis/cert-manager.io/v1/namespaces/shop/certificates';
  const { items } = (await (await asDana(certificates)).json()) as { items: readonly object[] };
  expect(items.length).toBeGreaterThan(5);
  const statuses = async (path: string): Promise<number> => (await asDana(path)).status;
  expect(await statuses('/apis/apps/v1/namespaces/monitoring/statefulsets')).toBe(200);
  expect(await statuses('/api/v1/namespaces/kube-system/pods')).toBe(403);
  expect(await statuses('/api/v1/pods')).toBe(403);
  expect(await statuses('/api/v1/namespaces/shop/secrets')).toBe(403);
  const review = { kind: 'SelfSubjectRulesReview', spec: { namespace: 'shop' } };
  const asked = await fetch(`${origin}/apis/authorization.k8s.io/v1/selfsubjectrulesreviews`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(review),
  });
  expect(asked.status).toBe(201);
  expect(JSON.stringify(await asked.json())).toContain('"certificates"');
  const fieldSelector = 'type=Warning,involvedObject.kind=Pod';
  const events = await asDana(`/api/v1/namespaces/shop/events?${new URLSearchParams({ fieldSelector })}`);
  const { items: warnings } = (await events.json()) as { items: readonly { involvedObject: object }[] };
  expect(warnings.length).toBeGreaterThan(0);
  expect(warnings[0]!.involvedObject).toMatchObject({ kind: 'Pod', namespace: 'shop' });
  const searched = await asDana('/kapis/tenant.gatehouse.io/v1alpha2/events?operation=query&size=100');
  const { query } = (await searched.json()) as { query: { records: { involvedObject: { namespace: string } }[] } };
  const namespaces = new Set(query.records.map(({ involvedObject }) => involvedObject.namespace));
  expect([searched.status, namespaces.has('shop')]).toEqual([200, true]);
  expect([...namespaces].filter((name) => name !== 'shop' && name !== 'monitoring')).toEqual([]);
  const leave = new AbortController();
  const watch = await asDana('/api/v1/namespaces/shop/pods?watch=true', leave.signal);
  let seen = '';
  for await (const bytes of watch.body!) {
    seen += Buffer.from(bytes).toString();
    if (seen.includes('"type":"MODIFIED"')) break;
  }
  leave.abort();
  demo.signal('SIGINT');
  expect((await demo.ended).code).toBe(0);
});

test('pods that come later in the demo have no uid of another one', async () => {
  const { demo, printed } = await startDemo('--no-logs', '--pod-changes', '50');
  const [, origin] = / on (http:\S+),/.exec(printed)!;
  const [, password = ''] = /^User: admin +Password: (\S+)/m.exec(printed)!;
  const form = new URLSearchParams({ client_id: 'gatehouse', grant_type: 'password', username: 'admin', password });
  const signedIn = await fetch(`${origin}/oauth/token`, { method: 'POST', body: form });
  const { access_token: token } = (await signedIn.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${token}` };
  const pods = `${origin}/kapis/resources.gatehouse.io/v1alpha3/pods?limit=-1`;
  const nameOf = new Map<string, string>();
  const doubled: string[] = [];
  while (nameOf.size < 150) {
    const { items } = (await (await fetch(pods, { headers })).json()) as {
      items: readonly { metadata: { uid: string; name: string } }[];
    };
    for (const { uid, name } of items.map(({ metadata }) => metadata)) {
      if ((nameOf.get(uid) ?? name) !== name) doubled.push(`${nameOf.get(uid)} ${name}`);
      nameOf.set(uid, name);
    }
  }
  expect(doubled).toEqual([]);
  demo.signal('SIGINT');
  expect((await demo.ended).code).toBe(0);
});

/**
 * The commands of a page, block by block. A command that follows a list prints the beginning of its first events only. It learns that nobody reads
 * any more with its next event, a minute later, or when the demo ends; until then it must not hold the output of the script open.
 */
const blocksOf = (page: string): string[] =>
  [...readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map(
    ([, block = '']) => block.replaceAll(/^get -N .*$/gm, (line) => `head -c 300 < <(${line} 2>/dev/null)`),
  );

test('a day with every kind, as docs/kinds.md has it, goes by on the demo', async (context) => {
  needs(context, 'curl and jq');
  const { demo, printed } = await startDemo('--no-logs');
  const [, origin] = / on (http:\S+),/.exec(printed)!;
  const [, password = ''] = /^User: dana +Password: (\S+)/m.exec(printed)!;
  const env = { ...process.env, GATEHOUSE: origin, PASSWORD: password };
  const script = ['set -eu', blocksOf('kinds.md').join('echo =====\n')].join('\n');
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { env });
  const [, mine, filtered, custom, followed, secrets] = stdout.split('=====\n');
  expect(mine).toMatch(
    /^(shop\nmonitoring|monitoring\nshop)\n\d+\n(\w+\/\S+\n){5}Gatehouse-Scope: permitted; namespaces=2/i,
  );
  const lists = filtered!.split('\n').filter((line) => /^\d+$/.test(line));
  expect(lists).toHaveLength(4);
  expect(Number(lists[0])).toBeGreaterThan(0);
  expect(filtered).not.toMatch(/kube-system|default\//);
  expect(custom).toMatch(/^\d+\n(\w+\/\S+\n){3}\[/);
  expect(custom).toContain('certificates\tcert-manager.io\tv1');
  expect(followed!.split('"type":"ADDED"'), followed).toHaveLength(4);
  expect(secrets).toBe('secrets are not served here (kinds.secrets is none)\n');
  demo.signal('SIGINT');
  expect((await demo.ended).code).toBe(0);
});

test('the users of the demo have chosen their passwords, and the administrator reads the definitions of kinds', async () => {
  const { demo, printed } = await startDemo('--no-logs');
  const [, origin] = / on (http:\S+),/.exec(printed)!;
  for (const username of ['admin', 'dana']) {
    const [, password = ''] = new RegExp(`^User: ${username} +Password: (\\S+)`, 'm').exec(printed)!;
    const form = new URLSearchParams({ client_id: 'gatehouse', grant_type: 'password', username, password });
    const signedIn = await fetch(`${origin}/oauth/token`, { method: 'POST', body: form });
    const { access_token: token = '' } = (await signedIn.json()) as { access_token?: string };
    const headers = { authorization: `Bearer ${token}` };
    const user = await fetch(`${origin}/kapis/iam.gatehouse.io/v1alpha2/users/${username}`, { headers });
    const { metadata } = (await user.json()) as { metadata: { name: string; annotations?: object } };
    expect(metadata.name).toBe(username);
    expect(metadata.annotations ?? {}).not.toHaveProperty(['iam.gatehouse.io/uninitialized']);
    const definitions = await fetch(`${origin}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, { headers });
    expect([username, definitions.status]).toEqual([username, username === 'admin' ? 200 : 403]);
  }
  demo.signal('SIGINT');
  expect((await demo.ended).code).toBe(0);
});

test('the demo writes its log to a file that it names, and removes it when it ends well', async () => {
  const { demo, printed } = await startDemo('--no-logs');
  const file = /^Log: (\S+) /m.exec(printed)![1]!;
  expect(readFileSync(file, 'utf8')).toContain(' listening ');
  expect(printed).not.toContain(' listening ');
  demo.signal('SIGTERM');
  expect((await demo.ended).code).toBe(0);
  expect(existsSync(file)).toBe(false);
});

test('the demo prints its log with --verbose', async () => {
  const { printed } = await startDemo('--verbose');
  expect(printed).toContain(' listening ');
  expect(printed).not.toMatch(/^Log: /m);
});

test('a demo that cannot go on names its log and keeps it', async () => {
  const { demo, printed } = await startDemo();
  const [port] = /(?<=127\.0\.0\.1:)\d+/.exec(printed)!;
  const { folder, write } = temporaryFolder();
  const config = write('taken.yaml', `server: { port: ${port}, metricsPort: 0 }`);
  const second = new Program(['--config', config], { module: 'dev/demo.ts', env: { TMPDIR: folder } });
  const { code, stderr } = await second.ended;
  expect(code).toBe(1);
  expect(stderr).toContain(`${port}`);
  const [, file] = /^demo: its log is (\S+)$/m.exec(stderr)!;
  expect(readFileSync(file!, 'utf8')).not.toBe('');
  demo.signal('SIGINT');
});
