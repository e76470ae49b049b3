import { describe, expect, test } from 'vitest';
import { AccountRefusals } from '../../../src/accounts/refusals.ts';
import { planUpdate } from '../../../src/accounts/writes/update-plan.ts';
import { parseUser } from '../../../src/accounts/writes/user-body.ts';
import type { UserWriteParts } from '../../../src/accounts/writes/user-writes.ts';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import { NAMES } from '../../support/accounts/memory-user-records.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const EARLIER = '2026-01-01T00:00:00Z';
const MIA: KubernetesObject = {
  metadata: {
    ...{ name: 'mia', uid: 'first', resourceVersion: '7', labels: { team: 'a' } },
    annotations: { note: 'old', [NAMES.tokensNotBefore]: EARLIER },
  },
  spec: { email: 'mia@example.com', lang: 'de', groups: ['dev'], displayName: 'Mia', of34: 'kept' },
  status: { state: 'Active' },
};

interface Asked {
  readonly metadata?: object;
  readonly spec?: object;
  readonly state?: string;
  readonly isManager?: boolean;
  readonly roles?: readonly string[];
  readonly stored?: KubernetesObject;
}

/** What becomes of Mia by what GET answered, with these changes; `undefined` leaves a member out. */
function plan({ metadata, spec, state, isManager = true, roles = [], stored = MIA }: Asked = {}) {
  const body = {
    metadata: { ...stored.metadata, ...metadata },
    spec: { ...(stored['spec'] as object), ...spec },
    status: { ...(stored['status'] as object), ...(state === undefined ? {} : { state }) },
  };
  const owners = new Map([
    ['mia@example.com', ['mia']],
    ['joe@example.com', ['joe']],
  ]);
  const parts: Pick<UserWriteParts, 'names' | 'clock' | 'known' | 'refusals'> = {
    ...{ names: NAMES, refusals: new AccountRefusals(NAMES), clock: new FakeClock() },
    known: { byName: () => undefined, ownersOfEmail: (email) => owners.get(email) ?? [] },
  };
  const written = parseUser(Buffer.from(JSON.stringify(body)), NAMES);
  const standing = { isManager, isSelf: !isManager, roles, parts: parts as UserWriteParts };
  return planUpdate(written, stored, standing);
}

const refusalOf = (asked: Asked) => {
  try {
    plan(asked);
    return undefined;
  } catch (error) {
    const { code, details } = (error as { answer: { code: number; details?: { causes?: { field: string }[] } } })
      .answer;
    return [code, ...(details?.causes ?? []).map(({ field }) => field)];
  }
};
const asStored = ({ spec, ...rest }: KubernetesObject, more: object = {}): KubernetesObject => ({
  ...rest,
  spec: { ...(spec as object), ...more },
});

describe('the plan of an update', () => {
  test('AC-30 changes nothing of a user who is sent back as answered', () => {
    for (const isManager of [true, false])
      expect(plan({ isManager })).toEqual({ object: MIA, state: undefined, role: undefined });
  });

  test('AC-34 what a manager leaves out goes, and what the user leaves out stays, but for the fields of a person', () => {
    const left = { metadata: { labels: undefined }, spec: { groups: undefined, lang: undefined } };
    const { object: managed } = plan(left);
    expect(managed).toMatchObject({ metadata: { labels: {} } });
    expect(managed['spec']).toEqual({ email: 'mia@example.com', displayName: 'Mia', of34: 'kept' });
    const { object: own } = plan({ ...left, isManager: false });
    expect(own.metadata.labels).toEqual({ team: 'a' });
    expect(own['spec']).toEqual({ email: 'mia@example.com', displayName: 'Mia', groups: ['dev'], of34: 'kept' });
  });

  test('AC-35 a disable ends tokens in the object itself, and nothing else does', () => {
    const tokensOf = (asked: Asked) => plan(asked).object.metadata.annotations?.[NAMES.tokensNotBefore];
    const stored = { ...MIA, status: { state: 'Disabled' } };
    expect(plan({ state: 'Disabled' }).state).toBe('Disabled');
    expect(tokensOf({ state: 'Disabled' })).toBe('2026-03-09T10:00:00Z');
    expect(plan({ stored, state: 'Active' }).state).toBe('Active');
    expect(tokensOf({ stored, state: 'Active' })).toBe(EARLIER);
    expect([plan({ stored }).state, tokensOf({ stored })]).toEqual([undefined, EARLIER]);
  });

  test('AC-36 a state is one of two words, unless it is that of the user', () => {
    expect(refusalOf({ state: 'AuthLimitExceeded' })).toEqual([400, 'status.state']);
    expect(refusalOf({ state: '' })).toEqual([400, 'status.state']);
    expect(refusalOf({ stored: { ...MIA, status: { state: 'AuthLimitExceeded' } } })).toBeUndefined();
  });

  test('AC-40 a role is given where it is another one or one of several, and its time is noted', () => {
    const ask = (role: string, ...roles: string[]) =>
      plan({ metadata: { annotations: { ...MIA.metadata.annotations, [NAMES.globalRole]: role } }, roles });
    const noted = { ...MIA.metadata.annotations, [NAMES.lastRoleChange]: '2026-03-09T10:00:00.000Z' };
    for (const planned of [ask('b', 'a'), ask('b'), ask('b', 'b', 'a')])
      expect([planned.role, planned.object.metadata.annotations]).toEqual(['b', noted]);
    for (const planned of [ask('b', 'b'), ask('', 'b')])
      expect([planned.role, planned.object]).toEqual([undefined, MIA]);
  });

  test.each<[string, Asked, readonly unknown[]]>([
    ['another version', { metadata: { resourceVersion: '6' } }, [409]],
    ['no version', { metadata: { resourceVersion: '' } }, [422, 'metadata.resourceVersion']],
    ['no address', { spec: { email: undefined } }, [422, 'spec.email']],
    ['an address that is none', { spec: { email: 'x' } }, [400, 'spec.email']],
    ['the address of another', { spec: { email: 'joe@example.com' } }, [409, 'spec.email']],
    ['a language that is too long', { spec: { lang: 'x'.repeat(257) } }, [422, 'spec.lang']],
    ['a name that is too long', { spec: { displayName: 'x'.repeat(257) } }, [422, 'spec.displayName']],
    ['a description that is too long', { spec: { description: 'x'.repeat(257) } }, [422, 'spec.description']],
    ['a group of the cluster', { spec: { groups: ['system:masters'] } }, [422, 'spec.groups[0]']],
    ['a password', { spec: { password: 'Made-up-1' } }, [422, 'spec.password']],
    [
      'a bad address beside another fault',
      { spec: { email: 'x', password: 'Made-up-1' } },
      [422, 'spec.password', 'spec.email'],
    ],
  ])('is refused for %s', (_, asked, refusal) => {
    expect(refusalOf(asked)).toEqual(refusal);
  });

  test('leaves what another tool has made as it is, faults and all', () => {
    const long = 'x'.repeat(300);
    const odd = { email: 'x', lang: long, displayName: long, description: long, groups: ['system:masters'] };
    expect(refusalOf({ stored: asStored(MIA, odd) })).toBeUndefined();
  });

  test('AC-34 the user may have annotations of 16 KiB, a manager more', () => {
    const annotations = (bytes: number) => ({ ...MIA.metadata.annotations, note: 'x'.repeat(bytes) });
    const others = Buffer.byteLength(Object.entries(annotations(0)).flat().join(''));
    const most = 16 * 1024 - others;
    expect(refusalOf({ isManager: false, metadata: { annotations: annotations(most) } })).toBeUndefined();
    const more = { metadata: { annotations: annotations(most + 1) } };
    expect(refusalOf({ isManager: false, ...more })).toEqual([422, 'metadata.annotations']);
    expect(refusalOf(more)).toBeUndefined();
  });

  test.each<[string, Asked]>([
    ['spec.groups', { spec: { groups: ['dev', 'ops'] } }],
    ['spec.groups', { spec: { groups: ['ops'] } }],
    ['spec.groups', { spec: { groups: [] } }],
    ['metadata.labels', { metadata: { labels: { team: 'b' } } }],
    ['metadata.labels', { metadata: { labels: {} } }],
    ['status.state', { state: 'Disabled' }],
    ['metadata.annotations', { metadata: { annotations: { [`${NAMES.prefix}granted-clusters`]: 'all' } } }],
    [
      `metadata.annotations[${NAMES.globalRole}]`,
      { metadata: { annotations: { [NAMES.globalRole]: 'admin' } }, roles: ['regular'] },
    ],
  ])('AC-34 is refused to the user itself for another %s', (field, asked) => {
    expect(refusalOf({ ...asked, isManager: false })).toEqual([403, field]);
  });
});
