import { describe, expect, test } from 'vitest';
import {
  AccountSelection,
  type AccountSelectionOptions,
} from '../../../../src/accounts/impersonation/account-selection.ts';
import { ChosenUsers } from '../../../../src/accounts/impersonation/chosen-users.ts';
import { FollowFaults } from '../../../../src/accounts/impersonation/follow-faults.ts';
import { createFollowedAccess } from '../../../../src/accounts/impersonation/followed-access.ts';
import { ImpersonationKeeper } from '../../../../src/accounts/impersonation/impersonation-keeper.ts';
import { formOf } from '../../../../src/accounts/impersonation/impersonation-role.ts';
import { MirroredImpersonation } from '../../../../src/accounts/impersonation/mirrored-impersonation.ts';
import { ClusterError } from '../../../../src/kubernetes/client/api-client.ts';
import type { KubernetesObject } from '../../../../src/kubernetes/object.ts';
import type { WriteOptions } from '../../../../src/kubernetes/objects/cluster-objects.ts';
import { RESERVED_NAMES, reservedNames } from '../../../../src/users/user.ts';
import { MemoryObjects } from '../../../support/accounts/memory-objects.ts';
import { MemoryUserRecords, NAMES } from '../../../support/accounts/memory-user-records.ts';
import { atEnd } from '../../../support/at-end.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { userObject } from '../mirrored.ts';

const ROLE = 'ns:gatehouse:gateway:accounts-0';
const DENIED = "clusterroles is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: no";

/** The ClusterRoles of a cluster: with a policy, unless a test takes it away. */
class ClusterRoles extends MemoryObjects {
  hasPolicy = true;
  rehearsals = 0;

  constructor() {
    super();
    const write = this.patch;
    this.patch = async (name: string, patch: object, options: WriteOptions = {}): Promise<KubernetesObject> => {
      if (!options.dryRun) return write(name, patch);
      this.rehearsals += 1;
      const body = { kind: 'Status', code: 403, reason: 'Forbidden', message: DENIED };
      if (this.hasPolicy) throw new ClusterError('it', { status: 403, headers: {}, body } as never);
      return { metadata: { name, uid: '', resourceVersion: '' } };
    };
  }
}

interface Change {
  readonly isHolder?: boolean;
  readonly options?: Partial<AccountSelectionOptions>;
  readonly roles?: readonly string[];
}

function start({ isHolder = true, options, roles: names = [ROLE] }: Change = {}) {
  const clock = new FakeClock();
  const users = new MemoryUserRecords();
  const objects = new MemoryObjects();
  const clusterRoles = new ClusterRoles();
  objects.onChange = (name, object) => (object ? users.putObject(object) : users.delete(name));
  for (const name of names) clusterRoles.put({ metadata: { name, uid: `uid-${name}`, resourceVersion: '' } });
  const selector = { matchLabels: {}, matchExpressions: [] };
  const selection = new AccountSelection(
    { selector, roles: [], groups: [], ...options },
    reservedNames(RESERVED_NAMES),
  );
  const chosen = new ChosenUsers({ selection, roleOf: () => undefined, isCounted: () => true });
  users.onChange((name) => chosen.update(name, users.get(name)));
  const state = { isHolder, isWatched: true };
  const mirrored = { told: (_: string): void => {} };
  const seen = new Map<string, KubernetesObject>();
  const show = (name: string): void => {
    const role = clusterRoles.peek(name);
    if (role) seen.set(name, role);
    else seen.delete(name);
    mirrored.told(name);
  };
  clusterRoles.onChange = (name) => state.isWatched && show(name);
  const form = formOf(false);
  const roles = new MirroredImpersonation({
    names,
    form,
    clusterRoles: {
      get: (name) => {
        const object = seen.get(name);
        const encoded = { bytes: () => Buffer.from(JSON.stringify(object)) };
        return object && ({ resourceVersion: object.metadata.resourceVersion, encoded } as never);
      },
      onChange: (changed) => {
        mirrored.told = changed;
      },
    },
  });
  for (const name of names) show(name);
  const lines: string[] = [];
  const log = (_: object, message: string): void => void lines.push(message);
  const logger = { info: () => {}, debug: () => {}, warn: log } as never;
  const faults = new FollowFaults(logger);
  const results: string[] = [];
  const keeper = new ImpersonationKeeper({
    ...{ names: NAMES, selection, isCounted: () => true, objects, bindings: new MemoryObjects() },
    ...{ chosen, roles, form, clusterRoles, faults, clock, logger },
    isKnown: () => true,
    isHolder: () => state.isHolder,
    onWrite: (result) => results.push(result),
    random: { bytes: (length) => Buffer.alloc(length), fraction: () => 1 },
  });
  const stop = new AbortController();
  const running = keeper.run(stop.signal);
  atEnd(async () => {
    stop.abort();
    await running;
  });
  const stateOf = createFollowedAccess({ selection, chosen, roles, faults });
  const stored = (name = ROLE): readonly unknown[] =>
    ((clusterRoles.peek(name)?.['rules'] ?? []) as { resourceNames: unknown[] }[]).flatMap(
      (rule) => rule.resourceNames,
    );
  const put = (name: string, more: object = {}): KubernetesObject =>
    objects.put(userObject(name, { version: '', ...more }));
  const disable = (name: string): KubernetesObject => put(name, { status: { state: 'Disabled' } });
  return { clock, users, objects, clusterRoles, state, show, faults, lines, results, stateOf, stored, put, disable };
}

describe('the holder of the Lease', () => {
  test('G-25 adds a new user at once, and takes a disabled one away at once', async () => {
    const { clock, put, disable, stored, stateOf } = start();
    put('ann');
    expect(stateOf('ann', [])).toBe('soon');
    await clock.advance(250);
    expect([stored(), stateOf('ann', [])]).toEqual([['ann'], 'granted']);
    disable('ann');
    expect(stateOf('ann', [])).toBe('not-chosen');
    await clock.advance(250);
    expect(stored()).toEqual([]);
  });

  test('adds a thousand users in two writes, not in a thousand', async () => {
    const { clock, put, stored, results } = start();
    for (let at = 0; at < 1_000; at++) {
      put(`u${at}`);
      if (at % 500 === 0) await clock.advance(250);
    }
    await clock.advance(2_000);
    expect([stored().length, results]).toEqual([1_000, ['written', 'written']]);
  });

  test('adds a chosen group together with its first member, and takes it away with the last', async () => {
    const { clock, put, disable, stored, stateOf } = start({ options: { groups: ['team-*'] } });
    put('ann', { spec: { groups: ['team-a', 'others'] } });
    put('bob', { spec: { groups: ['team-a'] } });
    await clock.advance(250);
    expect(stored()).toEqual(['ann', 'bob', 'team-a']);
    disable('ann');
    await clock.advance(1_000);
    expect(stored()).toEqual(['bob', 'team-a']);
    disable('bob');
    await clock.advance(1_000);
    expect(stored()).toEqual([]);
    expect(stateOf('ann', ['team-a'])).toBe('not-chosen');
  });

  test('rewrites rules that somebody else has written', async () => {
    const { clock, put, clusterRoles } = start();
    put('ann');
    await clock.advance(250);
    const role = clusterRoles.peek(ROLE)!;
    clusterRoles.put({ ...role, rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] });
    await clock.advance(2_000);
    expect(clusterRoles.peek(ROLE)!['rules']).toEqual([
      { apiGroups: [''], resources: ['users'], resourceNames: ['ann'], verbs: ['impersonate'] },
    ]);
  });

  test('does not add a user whom the cluster no longer has as the watch shows it', async () => {
    const { clock, users, put, objects, stored } = start();
    const ann = put('ann');
    objects.onChange = () => {};
    objects.put({ ...ann, status: { state: 'Disabled' } });
    users.putObject(ann);
    await clock.advance(5_000);
    expect(stored()).toEqual([]);
  });

  test('writes no role again before the watch has shown its last write', async () => {
    const { clock, put, disable, state, show, results } = start();
    put('ann');
    state.isWatched = false;
    await clock.advance(250);
    disable('ann');
    await clock.advance(4_000);
    expect(results).toEqual(['written']);
    show(ROLE);
    await clock.advance(250);
    expect(results).toEqual(['written', 'written']);
  });
});

describe('a replica that does not hold the Lease', () => {
  test('G-25 acts when a difference has lasted for three seconds, so that nobody waits for the Lease of a dead holder', async () => {
    const { clock, put, disable, stored } = start({ isHolder: false });
    put('ann');
    await clock.advance(2_750);
    expect(stored()).toEqual([]);
    await clock.advance(750);
    expect(stored()).toEqual(['ann']);
    disable('ann');
    await clock.advance(3_500);
    expect(stored()).toEqual([]);
  });

  test('does nothing when the holder was faster', async () => {
    const { clock, put, clusterRoles, results } = start({ isHolder: false });
    put('ann');
    await clock.advance(1_000);
    const rules = [{ apiGroups: [''], resources: ['users'], resourceNames: ['ann'], verbs: ['impersonate'] }];
    clusterRoles.put({ ...clusterRoles.peek(ROLE)!, rules });
    await clock.advance(10_000);
    expect(results).toEqual([]);
  });
});

describe('what keeps users out', () => {
  test('G-26 without a policy nobody is added, disabled users still leave, and a sentence says why', async () => {
    const { clock, put, disable, stored, clusterRoles, faults, stateOf, lines } = start();
    put('ann');
    await clock.advance(250);
    clusterRoles.hasPolicy = false;
    await clock.advance(600_000);
    put('bob');
    disable('ann');
    await clock.advance(2_000);
    expect([stored(), faults.count('policy'), stateOf('bob', [])]).toEqual([[], 1, 'stuck']);
    expect(lines).toContain('nobody is added to the ClusterRoles of gateway.accounts');
    clusterRoles.hasPolicy = true;
    await clock.advance(10_000);
    expect([stored(), faults.count('policy'), stateOf('bob', [])]).toEqual([['bob'], 0, 'granted']);
  });

  test('asks about the policy at most every ten minutes while there is one', async () => {
    const { clock, put, clusterRoles } = start();
    for (let at = 0; at < 10; at++) {
      put(`u${at}`);
      await clock.advance(2_000);
    }
    expect(clusterRoles.rehearsals).toBe(1);
  });

  test('a selection that chooses nobody is a fault with a sentence', async () => {
    const selector = { matchLabels: { none: 'x' }, matchExpressions: [] };
    const { clock, put, faults, lines } = start({ options: { selector } });
    put('ann');
    await clock.advance(250);
    expect([faults.count('nobody'), lines]).toEqual([
      1,
      ['gateway.accounts chooses no user: check its selector and roles'],
    ]);
  });

  test('users with names of the cluster are counted, and never named', async () => {
    const { clock, put, stored, faults } = start();
    put('kube-admin');
    put('ann');
    await clock.advance(250);
    expect([stored(), faults.count('name')]).toEqual([['ann'], 1]);
  });

  test('a role that does not exist is a fault, and the others are used', async () => {
    const { clock, put, stored, faults, clusterRoles, show } = start({ roles: ['r-0', 'r-1'] });
    await clusterRoles.remove('r-0');
    show('r-0');
    put('ann');
    await clock.advance(250);
    expect([stored('r-1'), faults.count('missing-role')]).toEqual([['ann'], 1]);
  });

  test('users without room are told, and come in when somebody leaves', async () => {
    const { clock, put, disable, stored, faults, stateOf } = start();
    for (let at = 0; at < 1_001; at++) put(`u${String(at).padStart(4, '0')}`);
    await clock.advance(2_000);
    expect([stored().length, faults.count('room'), stateOf('u1000', [])]).toEqual([1_000, 1, 'stuck']);
    disable('u0000');
    await clock.advance(35_000);
    expect([stored().length, faults.count('room'), stateOf('u1000', [])]).toEqual([1_000, 0, 'granted']);
  });

  test('a write that fails is told and tried again', async () => {
    const { clock, put, stored, clusterRoles, faults, results } = start();
    clusterRoles.failure = new Error('away');
    put('ann');
    await clock.advance(500);
    expect([faults.count('write'), results]).toEqual([1, ['failed']]);
    clusterRoles.failure = undefined;
    await clock.advance(2_500);
    expect([faults.count('write'), stored()]).toEqual([0, ['ann']]);
  });
});
