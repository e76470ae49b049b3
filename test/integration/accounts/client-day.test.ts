import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { libraryBcrypt } from '../../../src/users/password-hash.ts';
import {
  PREFIX,
  ROLE,
  startWriteStand,
  UNINITIALIZED,
  USERS,
  type WriteStand,
} from '../../support/accounts/write-stand.ts';
import { eventually } from '../service/stand.ts';

const CREATOR = 'gatehouse.io/creator';
const DESCRIPTION = 'gatehouse.io/description';
const MENUS = `${PREFIX}/role-template-rules`;
const LIST = 'limit=10&page=1&sortBy=createTime';

interface Listed {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
}
const namesIn = (items: readonly Listed[]): string[] => items.map(({ metadata }) => metadata.name);

describe('what a client of 3.4 does', () => {
  let stand: WriteStand;
  beforeAll(async () => {
    stand = await startWriteStand({
      bcrypt: libraryBcrypt,
      assigners: ['olivia'],
      fill: ({ objects }) => {
        objects.patch('clusterroles', 'platform-admin', {
          metadata: { annotations: { [MENUS]: '{"users":"manage"}' } },
        });
      },
    });
    const annotations = { [ROLE]: 'platform-admin', [CREATOR]: 'system' };
    await stand.made('olivia', { spec: { password: 'Olivia-runs-it-1', lang: 'en' }, annotations });
  });
  afterAll(() => stand?.stop());

  test('AC-01 AC-10 AC-30 AC-35 AC-70 in a day: sign in, look, invite, change, disable, enable, be the one invited', async () => {
    // 1. After sign-in: the person's own user, with her own token.
    const olivia = await stand.newToken('olivia', 'Olivia-runs-it-1');
    const asOlivia = (method: string, path: string, body?: unknown) => stand.ask(method, path, { token: olivia, body });
    const own = await asOlivia('GET', `${USERS}/olivia`);
    expect([own.status, own.body.metadata.name, own.body.spec]).toEqual([
      200,
      'olivia',
      { email: 'olivia@example.com', lang: 'en' },
    ]);
    expect(own.body.metadata.annotations[ROLE]).toBe('platform-admin');
    await eventually(
      () => asOlivia('GET', `${USERS}/olivia`),
      ({ body }) => !Number.isNaN(Date.parse(body.status.lastLoginTime)),
    );

    // 2. Her menus.
    const menus = await asOlivia('GET', `${USERS}/olivia/globalroles`);
    expect(menus.body.map((role: Listed) => JSON.parse(role.metadata.annotations?.[MENUS] ?? '{}'))).toEqual([
      { users: 'manage' },
    ]);

    // 3. Is the name taken, is the address?
    expect((await asOlivia('GET', `${USERS}/olivia`)).status).toBe(200);
    expect((await asOlivia('GET', `${USERS}/petra`)).status).toBe(404);
    const holders = async (email: string) => (await asOlivia('GET', `${USERS}?email=${email}`)).body;
    expect(namesIn((await holders('olivia@example.com')).items)).toEqual(['olivia']);
    expect(await holders('petra@example.com')).toEqual({ items: [], totalItems: 0 });

    // 4. The lists: of users, and of the roles to choose from.
    const users = await asOlivia('GET', `${USERS}?${LIST}`);
    expect([users.body.totalItems, users.body.items[0].status.state]).toEqual([1, 'Active']);
    const roles = await asOlivia(
      'GET',
      `/kapis/${PREFIX}/v1alpha2/globalroles?limit=-1&page=1&sortBy=createTime&annotation=${CREATOR}`,
    );
    expect(namesIn(roles.body.items).sort()).toEqual(['platform-admin', 'platform-regular', 'users-manager']);

    // 5. Create, with a password that the person must change.
    const created = await asOlivia('POST', USERS, {
      apiVersion: `${PREFIX}/v1alpha2`,
      kind: 'User',
      metadata: {
        name: 'petra',
        annotations: {
          [ROLE]: 'platform-regular',
          [UNINITIALIZED]: 'true',
          [CREATOR]: 'olivia',
          [DESCRIPTION]: 'on call',
        },
      },
      spec: { email: 'petra@example.com', password: 'Given-by-Olivia-1' },
    });
    expect([created.status, created.body.spec]).toEqual([200, { email: 'petra@example.com' }]);

    // 6. Update, without the members that a client leaves out; then disable and enable by the state alone.
    const change = async (status: object | undefined, spec: object, annotations: object = {}) => {
      const { body } = await asOlivia('GET', `${USERS}/petra`);
      const { uid: _1, creationTimestamp: _2, generation: _3, ...metadata } = body.metadata;
      const { status: _4, ...rest } = body;
      const sent = { ...metadata, annotations: { ...metadata.annotations, ...annotations } };
      return asOlivia('PUT', `${USERS}/petra`, {
        ...rest,
        metadata: sent,
        spec: { ...rest.spec, ...spec },
        ...(status && { status }),
      });
    };
    const isSeen = (state: string) =>
      eventually(
        async () => namesAndStates((await asOlivia('GET', `${USERS}?name=petra&${LIST}`)).body.items),
        (seen) => seen === `petra ${state}`,
      );
    await isSeen('Active');
    const updated = await change(undefined, { lang: 'de' }, { [DESCRIPTION]: 'at home' });
    expect([updated.status, updated.body.spec.lang, updated.body.metadata.annotations]).toMatchObject([
      200,
      'de',
      { [ROLE]: 'platform-regular', [CREATOR]: 'olivia', [DESCRIPTION]: 'at home', [UNINITIALIZED]: 'true' },
    ]);
    await eventually(
      () => change({ state: 'Disabled' }, {}),
      ({ status }) => status === 200,
    );
    await isSeen('Disabled');
    expect((await stand.signIn('petra', 'Given-by-Olivia-1')).status).toBe(400);
    await eventually(
      () => change({ state: 'Active' }, {}),
      ({ status }) => status === 200,
    );
    await isSeen('Active');

    // 7. Petra signs in and is asked for a password of her own; afterwards she goes to the sign-in page.
    const invited = (
      await eventually(
        () => stand.signIn('petra', 'Given-by-Olivia-1'),
        ({ status }) => status === 200,
      )
    ).body.access_token as string;
    expect(
      (await stand.ask('GET', `${USERS}/petra`, { token: invited })).body.metadata.annotations[UNINITIALIZED],
    ).toBe('true');
    const first = await stand.ask('PATCH', `/apis/${PREFIX}/v1alpha2/users/petra`, {
      token: invited,
      headers: { 'Content-Type': 'application/json-patch+json' },
      body: [
        { op: 'replace', path: '/spec/password', value: 'Petra-chose-it-1' },
        { op: 'remove', path: `/metadata/annotations/${PREFIX}~1uninitialized` },
      ],
    });
    expect(first.status).toBe(200);
    expect((await stand.ask('GET', `${USERS}/petra`, { token: invited })).status).toBe(200);
    const petra = await stand.newToken('petra', 'Petra-chose-it-1');
    const changed = await stand.ask('PUT', `${USERS}/petra/password`, {
      token: petra,
      body: { currentPassword: 'Petra-chose-it-1', password: 'Petra-again-2' },
    });
    expect([changed.body, (await stand.ask('GET', `${USERS}/petra`, { token: petra })).status]).toEqual([
      { message: 'success' },
      200,
    ]);
    expect((await stand.ask('GET', `${USERS}/petra`, { token: invited })).status).toBe(401);
    const again = await stand.newToken('petra', 'Petra-again-2');

    // 8. Her login history, which Olivia sees as well.
    for (const token of [again, olivia]) {
      const history = await eventually(
        () => stand.ask('GET', `${USERS}/petra/loginrecords?${LIST}`, { token }),
        ({ body }) => body.totalItems > 0,
      );
      expect(history.body.items.at(-1)).toMatchObject({
        metadata: { creationTimestamp: expect.stringMatching(/Z$/) },
        spec: { success: true, sourceIP: '127.0.0.1', reason: 'authenticated successfully' },
      });
    }
    expect((await stand.ask('GET', `${USERS}/olivia/loginrecords`, { token: again })).status).toBe(403);
    expect((await asOlivia('DELETE', `${USERS}/petra`)).body).toEqual({ message: 'success' });
    expect((await asOlivia('GET', `${USERS}/petra`)).status).toBe(404);
  });
});

const namesAndStates = (items: readonly (Listed & { readonly status: { readonly state: string } })[]): string =>
  items.map(({ metadata, status }) => `${metadata.name} ${status.state}`).join();
