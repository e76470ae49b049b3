import assert from 'node:assert/strict';
import type { User } from '../../../src/users/user.ts';
import { createUserDirectory, type UserSource } from '../../../src/users/user-directory.ts';

let users: User[] = [{ name: 'ada', uid: 'u-1', email: 'ada@example.com', groups: ['platform'], state: 'Active' }];
let changed = (): void => {};
const source: UserSource = {
  label: 'a list in memory',
  users: () => users,
  onChange: (listener) => {
    changed = listener;
  },
};

const directory = createUserDirectory([source], { events: { report: () => {} } });
assert.equal(directory.byEmail('Ada@Example.com')?.name, 'ada');
users = [];
changed();
assert.equal(directory.byName('ada'), undefined);
