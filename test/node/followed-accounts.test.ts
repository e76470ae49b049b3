import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { tellMeasured } from '../support/measured.ts';
import { killProcess, processOf } from './stand/container-process.ts';
import { FollowedStand, type Replica } from './stand/followed-stand.ts';
import type { Running, Way } from './stand/way.ts';
import { shell } from './stand/workload.ts';

/** From the answer to an invitation until kubectl works. */
const INVITED_REACHES_MS = 10_000;
const DISABLED_REACHES_MS = 5_000;
/** G-15, and what the machine may take on top of it to say so. */
const ENDED_WITHIN_MS = 60_000 + 5_000;

let stand: FollowedStand;
/** The replica that is not killed. */
let other: Replica;
/** At machines of their own. */
let fay: Way;
let gil: Way;
/** Tokens from before whatever was done to these users last. */
const tokens = { fay: '', gil: '' };

interface Ending {
  readonly name: string;
  readonly running: Running;
  /** Resolves with the time at which it ended. */
  readonly endedAt: Promise<number>;
}
const ending: Ending[] = [];
let disabledAt: number | undefined;

beforeAll(async () => {
  stand = await FollowedStand.start('followed');
});
afterAll(async () => {
  for (const { running } of ending) running.child.kill();
  await stand?.remove();
});

/** Resolves with how many ms have passed since `began` when `read` has this value. */
async function since<T>(began: number, read: () => Promise<T>, isSo: (value: T) => boolean): Promise<number> {
  await eventually(read, isSo);
  return performance.now() - began;
}

const whoami = async (way: Way): Promise<object> =>
  JSON.parse(await way.told(['auth', 'whoami', '--output=json'])).status.userInfo;

describe('two replicas whose gateway follows the accounts', { shuffle: false }, () => {
  test('let kubectl of somebody who was invited through within 10 s, without an operator', async () => {
    await stand.invite('fay');
    const began = performance.now();
    fay = await stand.sitDown('fay');
    expect(await fay.told(['get', 'configmap', 'kube-root-ca.crt', '--output=name'])).toBe(
      'configmap/kube-root-ca.crt\n',
    );
    const took = performance.now() - began;
    tellMeasured('invited', took, 'from the answer that makes a user to the end of gatehouse login and kubectl get');
    expect(took).toBeLessThan(INVITED_REACHES_MS);
    expect([await stand.named(), await stand.named('groups')]).toEqual([['admin', 'fay'], ['team-a']]);
  });

  test('make the calls of each as that user, with the groups that are chosen', async () => {
    await stand.invite('gil');
    gil = await stand.sitDown('gil');
    const groups = ['team-a', 'system:authenticated'];
    expect(await whoami(fay)).toMatchObject({ username: 'fay', groups });
    expect(await whoami(gil)).toMatchObject({ username: 'gil', groups });
  });

  test('AC-35 refuse calls of users who are disabled while the holder of the Lease is dead, and take their names away, within 5 s', async () => {
    const { leader, identity, ...replicas } = await stand.replicas();
    other = replicas.other;
    for (const name of ['fay', 'gil'] as const) tokens[name] = await stand.signIn(name, other.caller);
    await openStreams(await stand.wayTo(other, 'fay', tokens.fay));
    expect(await stand.calls(tokens.gil, other.caller)).toBe(200);
    await killProcess(await processOf(leader.pod));
    const changes = [stand.setState('fay', 'Disabled', other.caller), stand.setState('gil', 'Disabled', other.caller)];
    await Promise.all(changes);
    const began = performance.now();
    disabledAt = began;
    const isOut = (status: number): boolean => status === 401;
    const [calls, names] = await Promise.all([
      since(began, () => stand.calls(tokens.fay, other.caller), isOut),
      since(
        began,
        () => stand.named(),
        (users) => !users.includes('fay') && !users.includes('gil'),
      ),
    ]);
    expect(await stand.holder()).toBe(identity);
    tellMeasured('calls', calls, 'from the answer that disables a user to 401, with a dead leader');
    tellMeasured(
      'names',
      names,
      'from the answer that disables users to the ClusterRole without them, with a dead leader',
    );
    expect(calls).toBeLessThan(DISABLED_REACHES_MS);
    expect(names).toBeLessThan(DISABLED_REACHES_MS);
    expect(await fay.kubectl(['get', 'configmaps'])).toMatchObject({ stdout: '', code: 1 });
    expect(await stand.named()).toEqual(['admin']);
  });

  test('let a user who is enabled again in after a new sign-in, and nobody who is deleted', async () => {
    await stand.setState('gil', 'Active', other.caller);
    const began = performance.now();
    const token = await eventually(
      () => stand.signIn('gil', other.caller),
      (text) => text !== '',
    );
    const back = await since(
      began,
      () => stand.calls(token, other.caller),
      (status) => status === 200,
    );
    tellMeasured('enabled', back, 'from the answer that enables a user to a call that the cluster answers');
    expect(await stand.calls(tokens.gil, other.caller)).toBe(401);
    expect(await stand.named()).toEqual(['admin', 'gil']);
    await stand.delete('gil', other.caller);
    const deleted = performance.now();
    const gone = await since(
      deleted,
      () => stand.named(),
      (users) => !users.includes('gil'),
    );
    tellMeasured('deleted', gone, 'from the answer that deletes a user to the ClusterRole without the name');
    expect(await stand.calls(token, other.caller)).toBe(401);
  });

  test('G-15 have ended the streams of the user who was disabled within 60 s', async () => {
    expect(disabledAt).toBeTypeOf('number');
    expect(ending).toHaveLength(2);
    for (const { name, endedAt } of ending) {
      const took = (await endedAt) - disabledAt!;
      tellMeasured(name, took, 'from the answer that disables its user to the end of the command');
      expect(took).toBeLessThan(ENDED_WITHIN_MS);
    }
    expect(await stand.named()).toEqual(['admin']);
  });
});

async function openStreams(way: Way): Promise<void> {
  const open = async (name: string, args: readonly string[]): Promise<void> => {
    const running = await way.start('kubectl', args);
    ending.push({ name, running, endedAt: running.ended.then(() => performance.now()) });
    await eventually(
      async () => running.said.stdout,
      (text) => /begun/.test(text),
    );
  };
  await open('exec', ['exec', 'bench', '--', ...shell('echo begun; exec sleep 3600')]);
  await open('watch', ['get', 'pods', '--watch', '--output=jsonpath=begun']);
}
