import { describe, expect, test } from 'vitest';
import { createUserPresenter } from '../../../src/accounts/users/user-presenter.ts';
import { NAMES } from '../../support/accounts/memory-user-records.ts';
import { bindingObject, mirrored, userObject } from './mirrored.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Everything that nobody may see. */
const HIDDEN = userObject('mia', {
  kind: 'User',
  apiVersion: NAMES.apiVersion,
  metadata: {
    managedFields: [{ manager: 'x' }],
    annotations: { [LAST_APPLIED]: 'secret-1', note: 'kept', [NAMES.globalRole]: 'platform-admin' },
  },
  spec: { email: 'mia@example.com', password: 'secret-2', groups: ['a'] },
});

const SHOWN = {
  kind: 'User',
  apiVersion: 'iam.gatehouse.io/v1alpha2',
  metadata: {
    name: 'mia',
    uid: 'uid-mia',
    resourceVersion: '1',
    creationTimestamp: '2026-03-02T08:15:30Z',
    annotations: { note: 'kept' },
  },
  spec: { email: 'mia@example.com', groups: ['a'] },
  status: { state: 'Active' },
};

describe('the answer with a user', () => {
  test('leaves out the password, kubectl’s copy of the object, managed fields and the link', () => {
    const { putUser, userList } = mirrored();
    putUser(HIDDEN);
    expect(userList.text('mia')).toBe(JSON.stringify(SHOWN));
    const { kind: _kind, apiVersion: _version, ...item } = SHOWN;
    expect(userList.list()).toEqual({ items: [item], totalItems: 1 });
  });

  test('AC-01 shows the role that a kept binding makes, and no stored one', () => {
    const { putUser, bind, bindings, userList } = mirrored();
    putUser(HIDDEN);
    const before = userList.tag('mia');
    bind(bindingObject('mia', 'platform-regular'));
    const shown = JSON.parse(userList.text('mia') ?? '');
    expect(shown.metadata.annotations).toEqual({ note: 'kept', [NAMES.globalRole]: 'platform-regular' });
    expect(userList.tag('mia')).not.toBe(before);
    bindings.remove('mia-platform-regular');
    expect(userList.text('mia')).toBe(JSON.stringify(SHOWN));
  });

  test('shows the role of a user who comes after the binding', () => {
    const { putUser, bind, userList } = mirrored();
    bind(bindingObject('mia', 'platform-regular'));
    putUser(HIDDEN);
    expect(JSON.parse(userList.text('mia') ?? '').metadata.annotations[NAMES.globalRole]).toBe('platform-regular');
  });

  test('has annotations only where there are any to show', () => {
    const { putUser, bind, bindings, userList } = mirrored();
    const annotations = { [LAST_APPLIED]: '{}', [NAMES.passwordMoved]: 'a digest' };
    putUser(userObject('bare'));
    putUser(userObject('emptied', { metadata: { annotations } }));
    const metadataOf = (name: string) => JSON.parse(userList.text(name) ?? '').metadata;
    for (const name of ['bare', 'emptied']) {
      expect(Object.keys(metadataOf(name))).toEqual(['name', 'uid', 'resourceVersion', 'creationTimestamp']);
      bind(bindingObject(name, 'platform-regular'));
      expect(metadataOf(name).annotations).toEqual({ [NAMES.globalRole]: 'platform-regular' });
      bindings.remove(`${name}-platform-regular`);
      expect(metadataOf(name).annotations).toBeUndefined();
    }
  });

  test('writes the name of a role in ASCII', () => {
    const { putUser, bind, userList } = mirrored();
    putUser(HIDDEN);
    bind(bindingObject('mia', 'größe"€'));
    expect(JSON.parse(userList.text('mia') ?? '').metadata.annotations[NAMES.globalRole]).toBe('größe"€');
  });

  test.each([undefined, 'platform-regular'])('is the same in the answer to a write, with the role %s', (role) => {
    const { putUser, bind, userList } = mirrored();
    putUser(HIDDEN);
    if (role) bind(bindingObject('mia', role));
    const text = Buffer.from(createUserPresenter(NAMES).present(HIDDEN, role)).toString();
    expect(text).toBe(userList.text('mia'));
  });
});

describe('the filters of the user list', () => {
  const { putUser, bind, userList } = mirrored();
  putUser(userObject('a', { spec: { email: 'a@example.com', groups: ['developers', 'ops'] } }));
  putUser(userObject('b', { spec: { email: 'B@example.com', groups: ['Developers'] } }));
  putUser(userObject('c', { spec: { email: '' } }));
  putUser(userObject('d', { spec: {} }));
  bind(bindingObject('a', 'platform-regular'));
  bind(bindingObject('b', 'platform-admin'));

  test.each([
    ['email=a@example.com', ['a']],
    ['email=b@example.com', []],
    ['email=', ['d', 'c']],
    ['ingroup=developers', ['a']],
    ['ingroup=', []],
    ['notingroup=developers', ['d', 'c', 'b']],
    ['globalrole=platform-regular', ['a']],
    ['globalrole=', []],
    ['globalrole=platform-regular&ingroup=Developers', []],
    ['name=a&email=a@example.com', ['a']],
    ['sortBy=name&ascending=true&limit=2', ['a', 'b']],
    ['sortBy=createTime&watch=false', ['d', 'c', 'b', 'a']],
  ])('%s', (query, names) => {
    expect(userList.names(query)).toEqual(names);
  });

  test.each(['cluster', 'clusterrole', 'workspace', 'workspacerole', 'namespace', 'role'])(
    'refuse the scope filter %s of 3.4',
    (name) => {
      expect(() => userList.list(`${name}=x`)).toThrow(`query parameter "${name}" is not offered`);
    },
  );

  test.each(['status', 'foo', 'groups'])('do not know %s', (name) => {
    expect(() => userList.list(`${name}=Active`)).toThrow(`unknown query parameter "${name}"`);
  });

  test('have no watch', () => {
    expect(() => userList.list('watch=true')).toThrow('invalid query parameter "watch"');
  });

  test('never look at what is not shown', () => {
    const { putUser, userList } = mirrored();
    putUser(HIDDEN);
    expect(userList.names(`annotation=${LAST_APPLIED}`)).toEqual([]);
    expect(userList.names(`annotation=${NAMES.globalRole}`)).toEqual([]);
    expect(userList.names('annotation=note')).toEqual(['mia']);
  });
});
