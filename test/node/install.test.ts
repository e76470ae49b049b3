import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { CoreV1EventList, V1Node, V1Pod, V1PodList } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { clusterTool } from '../support/cluster-tools.ts';
import { tellMeasured } from '../support/measured.ts';
import { REPOSITORY } from './image/images.ts';
import { NODE_ADDRESS, NODE_NAME } from './kubernetes/place.ts';
import { Caller } from './stand/caller.ts';
import { helm, kubectl } from './stand/kubectl.ts';
import { Release } from './stand/release.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const release = new Release('gatehouse-system');
afterAll(() => release.remove());

/** The README's command, with the repository that stands for its registry. */
async function commandOfTheReadme(): Promise<string[]> {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const line = /^helm (install .*)$/m.exec(readme)?.[1];
  return line!.replace('REGISTRY/gatehouse', REPOSITORY).split(' ');
}

/** Runs the command of Helm's notes that reads this. */
async function followNotes(notes: string, what: string): Promise<string> {
  const command = notes.split('\n').find((line) => line.includes('kubectl') && line.includes(what));
  const path = [dirname(await clusterTool('kubectl')), process.env['PATH']].join(':');
  const env = { ...process.env, PATH: path, KUBECONFIG: inject('kubeconfig') };
  return (await promisify(execFile)('sh', ['-c', command!], { env })).stdout;
}

describe('helm install as the README says it', () => {
  let caller: Caller;
  let token: string;
  let said: string;

  beforeAll(async () => {
    const began = performance.now();
    const notes = await helm(await commandOfTheReadme());
    said = notes;
    caller = new Caller(`http://${NODE_ADDRESS}:${await followNotes(notes, 'nodePort')}`);
    const password = await eventually(
      () => followNotes(notes, 'password').catch(() => ''),
      (text) => text !== '',
    );
    await release.led(); // not before: see README.md
    token = (await caller.signIn(password)).access_token;
    tellMeasured('install', performance.now() - began, 'from helm install to the first token, the image being there');
  });

  test('lets the first administrator sign in and list the node, by the commands that Helm prints', async () => {
    const { status, body } = await caller.list(token);
    expect([status, body.items.map(({ metadata }: V1Node) => metadata?.name)]).toEqual([200, [NODE_NAME]]);
  });

  test('answers tokens to the command of Helm’s notes that signs in', async () => {
    const { access_token } = JSON.parse(await followNotes(said, 'grant_type=password')) as { access_token: string };
    expect((await caller.list(access_token)).status).toBe(200);
  });

  test('runs one pod, whose probes let it become ready without a restart', async () => {
    const pod = await eventually(() => release.pod(), isReady);
    expect(pod.status?.containerStatuses?.[0]).toMatchObject({ restartCount: 0, started: true, ready: true });
    const { items } = await release.get<CoreV1EventList>('events');
    expect(items.map(({ message }) => message).filter((text) => text?.startsWith('Liveness probe'))).toEqual([]);
  });

  test('lists the node that runs it as the kubelet reports it', async () => {
    const { body } = await caller.list(token);
    const [node] = body.items as V1Node[];
    const own = JSON.parse(await kubectl(['get', 'node', NODE_NAME, '-o', 'json'])) as V1Node;
    expect(node?.status).toMatchObject({ nodeInfo: own.status?.nodeInfo, capacity: own.status?.capacity });
    expect(node?.status?.nodeInfo?.kubeletVersion).toMatch(/^v1\.\d+\.\d+$/);
    expect(node?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
  });

  test('counts its own pod among the usage of the node, as kubectl describe does', async () => {
    // Pods of a release that was removed count until they have ended, for kubectl as for us.
    const [listed, described] = await eventually(
      async () => [usageOf((await caller.list(token)).body.items[0]), await usageThatKubectlTells()] as const,
      (both) => both.every((usage) => usage['cpu-requests'] === '100m'),
    );
    expect(listed).toEqual(described);
    expect(described).toMatchObject({ 'cpu-requests': '100m', 'memory-limits': '512Mi' });
  });

  test('shows a cordoned node as unschedulable at once, and lists it by that status', async () => {
    const status = async (): Promise<number> => (await caller.list(token, '?status=unschedulable')).body.totalItems;
    expect(await status()).toBe(0);
    await kubectl(['cordon', NODE_NAME]);
    try {
      expect(await eventually(status, (count) => count === 1)).toBe(1);
    } finally {
      await kubectl(['uncordon', NODE_NAME]);
    }
    expect(await eventually(status, (count) => count === 0)).toBe(0);
  });

  test('C-41 keeps a session signed out when its one pod is replaced', async () => {
    const pair = await caller.signIn(await release.password());
    expect((await caller.get('/oauth/logout', pair.access_token)).status).toBe(200);
    const { metadata } = await release.pod();
    await release.kubectl(['rollout', 'restart', 'deployment/gatehouse']);
    await release.kubectl(['rollout', 'status', 'deployment/gatehouse']);
    // Until its process has ended, the pod before might be the one that answers.
    const left = async () => (await release.get<V1PodList>('pods')).items.map((pod) => pod.metadata?.name);
    await eventually(left, (names) => !names.includes(metadata.name));
    const answers = [await caller.list(pair.access_token), await caller.refresh(pair.refresh_token)];
    expect(answers.map(({ status }) => status)).toEqual([401, 400]);
    expect((await caller.list(token)).status).toBe(200);
  });
});

const isReady = ({ status }: V1Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;

const USAGE = 'node.gatehouse.io/';

/** What `kubectl describe node` says of it, named as the annotations are. */
async function usageThatKubectlTells(): Promise<Record<string, string>> {
  const described = await kubectl(['describe', 'node', NODE_NAME]);
  const ofResource = (resource: string): [string, string][] => {
    const sums = new RegExp(`^ +${resource} +(\\S+) \\((\\d+%)\\) +(\\S+) \\((\\d+%)\\)$`, 'm').exec(described)!;
    return ['requests', 'requests-fraction', 'limits', 'limits-fraction'].map((name, i) => [
      `${resource}-${name}`,
      sums[i + 1]!,
    ]);
  };
  const [, pods] = /^Non-terminated Pods: +\((\d+) in total\)$/m.exec(described)!;
  return Object.fromEntries([...ofResource('cpu'), ...ofResource('memory'), ['pods', pods!]]);
}

const usageOf = ({ metadata }: V1Node): Record<string, string> =>
  Object.fromEntries(
    Object.entries(metadata?.annotations ?? {})
      .filter(([key]) => key.startsWith(USAGE))
      .map(([key, value]) => [key.slice(USAGE.length), value]),
  );
