import { describe, expect, test } from 'vitest';
import { accountNames } from '../../../src/accounts/names.ts';
import { annotationsAfter, annotationsOfNew } from '../../../src/accounts/writes/annotations.ts';

const NAMES = accountNames('example');
const KEPT = [
  ...[NAMES.lastPasswordChange, NAMES.incomplete, NAMES.tokensNotBefore, NAMES.passwordMoved, NAMES.lastRoleChange],
];
const MANAGER = { isManager: true, isSelf: false, names: NAMES };
const SELF = { isManager: false, isSelf: true, names: NAMES };
const [EARLY, LATE] = ['2026-03-09T10:00:00Z', '2099-01-01T00:00:00Z'];
const PLATFORM = `${NAMES.prefix}granted-clusters`;
const KUBECTL = 'kubectl.kubernetes.io/last-applied-configuration';

describe('the annotations of a user after an update', () => {
  test.each(KEPT)(
    'AC-34 AC-37 keep %s as it is when the body leaves it out, and a manager who writes another is refused',
    (key) => {
      const stored = { [key]: EARLY };
      for (const rights of [MANAGER, { ...MANAGER, isSelf: true }, SELF]) {
        expect(annotationsAfter({}, stored, rights)).toEqual({ annotations: stored });
        expect(annotationsAfter(undefined, stored, rights)).toEqual({ annotations: stored });
        expect(annotationsAfter({ [key]: EARLY }, stored, rights)).toEqual({ annotations: stored });
        expect(annotationsAfter({ [key]: LATE }, stored, rights)).toEqual({ refused: key });
        expect(annotationsAfter({ [key]: LATE }, {}, rights)).toEqual({ refused: key });
      }
    },
  );

  test('AC-34 of the platform are a manager’s to write and to remove, and nobody else’s', () => {
    const stored = { [PLATFORM]: 'a' };
    expect(annotationsAfter({ [PLATFORM]: 'b' }, stored, MANAGER)).toEqual({ annotations: { [PLATFORM]: 'b' } });
    expect(annotationsAfter({}, stored, MANAGER)).toEqual({ annotations: {} });
    expect(annotationsAfter({ [PLATFORM]: 'b' }, stored, SELF)).toEqual({ refused: PLATFORM });
    expect(annotationsAfter({}, stored, SELF)).toEqual({ annotations: stored });
  });

  test.each([
    [PLATFORM, 'b'],
    [`${NAMES.prefix}other`, 'x'],
    [NAMES.uninitialized, ''],
  ])('AC-34 are refused to the user itself by the name of the first that is the platform’s: %s', (key, value) => {
    const stored = { note: 'old', [PLATFORM]: 'a', [NAMES.uninitialized]: 'true' };
    expect(annotationsAfter({ ...stored, note: 'new', [key]: value }, stored, SELF)).toEqual({ refused: key });
  });

  test('AC-34 never say of a manager’s own user that a first password must be set, and of another’s they do', () => {
    const asked = { [NAMES.uninitialized]: 'true' };
    expect(annotationsAfter(asked, {}, { ...MANAGER, isSelf: true })).toEqual({ refused: NAMES.uninitialized });
    expect(annotationsAfter(asked, {}, MANAGER)).toEqual({ annotations: asked });
  });

  test('are otherwise those that were asked for; the role and what kubectl writes are never stored', () => {
    const asked = { 'example.com/x': 'new', [NAMES.globalRole]: 'admin', [KUBECTL]: '{"password":"x"}' };
    for (const rights of [MANAGER, SELF])
      expect(
        annotationsAfter(asked, { 'example.com/x': 'old', 'example.com/y': 'old', [KUBECTL]: '{}' }, rights),
      ).toEqual({ annotations: { 'example.com/x': 'new' } });
  });
});

describe('the annotations of a new user', () => {
  test('AC-22 are those that were asked for, without what only Gatehouse writes', () => {
    const others = { [PLATFORM]: 'host', [NAMES.uninitialized]: 'true', 'example.com/x': 'y' };
    const ours = Object.fromEntries([...KEPT, NAMES.globalRole, KUBECTL].map((key) => [key, LATE]));
    expect(annotationsOfNew({ ...others, ...ours }, NAMES)).toEqual(others);
  });
});
