import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../integration/service/stand.ts';
import { USERS } from '../../support/accounts/write-stand.ts';
import { type RunningBrowser, startBrowser } from '../browser.ts';
import type { Tab } from '../tab.ts';
import {
  asksForPassword,
  fillIn,
  holds,
  openPage,
  type PageStand,
  passwordOf,
  press,
  reads,
  startPage,
  visit,
} from './page-stand.ts';

const NEW = 'Another-canary-1';

/** The fields that something is wrong with, each with what is said below it. */
const FAULTS = `Object.fromEntries([...document.querySelectorAll('[aria-invalid=true]')].map((field) => [
  field.labels[0].innerText,
  field.getAttribute('aria-describedby').split(' ').map((id) => document.getElementById(id)).findLast((one) => one.matches('[role=alert]')).innerText,
]))`;

const faultsOf = async (tab: Tab): Promise<Record<string, string>> =>
  (await tab.page.evaluate(FAULTS)) as Record<string, string>;

/** The status of an answer about Ivy. */
async function statusOfIvy({ service }: PageStand): Promise<number> {
  const { access_token: token } = await service.signIn('ada');
  return (await service.call(`${USERS}/ivy`, { token })).status;
}

/** Whether a button, of the dialog if there is one, can be clicked. */
const mayPress = (tab: Tab, words: string): Promise<unknown> =>
  tab.page.evaluate(
    `[...(document.querySelector('dialog') ?? document).querySelectorAll('button')].some((one) => one.innerText === '${words}' && !one.disabled)`,
  );

describe('people on the page', () => {
  let running: RunningBrowser;
  beforeAll(async () => {
    running = await startBrowser('Chromium');
  });
  afterAll(() => running.end());

  test('a person signs out everywhere, and another browser of theirs is asked for the password', async () => {
    const stand = await startPage({ accounts: true });
    const [tab, other] = [
      await openPage(running.browser, stand, 'ivy', '/ui/account'),
      await openPage(running.browser, stand, 'ivy', '/'),
    ];
    await press(tab, 'Sign out everywhere');
    await reads(tab, 'All your sessions end');
    await press(tab, 'Sign out everywhere');
    await asksForPassword(tab);
    await other.page.reload();
    await asksForPassword(other);
  });

  test('a person changes the password, is told what is wrong beside the field, and signs in with the new one', async () => {
    const stand = await startPage({ accounts: true });
    const tab = await openPage(running.browser, stand, 'ivy', '/ui/account');
    await fillIn(tab, 'Current password', 'wrong');
    await fillIn(tab, 'New password', 'short');
    await fillIn(tab, 'New password again', 'short');
    expect(await mayPress(tab, 'Change the password')).toBe(false);
    await fillIn(tab, 'New password', NEW);
    expect(await faultsOf(tab)).toEqual({ 'New password again': 'The two new passwords are not the same.' });
    await fillIn(tab, 'New password again', NEW);
    await press(tab, 'Change the password');
    await reads(tab, 'This is not your current password.');
    expect(await faultsOf(tab)).toEqual({ 'Current password': 'This is not your current password.' });
    await fillIn(tab, 'Current password', passwordOf('ivy'));
    await press(tab, 'Change the password');
    await asksForPassword(tab);
    await tab.submit({ username: 'ivy', password: NEW });
    await reads(tab, 'This session');
    expect(await tab.page.evaluate('location.pathname')).toBe('/ui/account');
    expect(tab.complaints).toEqual([]);
  });

  test('W-14 a person without rights may not list users, and sees the own account', async () => {
    const stand = await startPage({ accounts: true });
    const tab = await openPage(running.browser, stand, 'ivy', '/ui/users');
    await reads(tab, 'You may not list users.');
    await reads(tab, 'cannot list resource "users"');
    await holds(tab, `document.querySelectorAll('main .notice').length === 1 && !document.querySelector('#roles')`);
    await visit(tab, '/ui/account');
    await reads(tab, 'ivy@example.com');
    await reads(tab, 'platform-regular');
    expect(tab.complaints).toEqual([]);
  });

  test('an invitation that is refused says so beside each field, keeps what was typed, and works when it is mended', async () => {
    const stand = await startPage({ accounts: true });
    const tab = await openPage(running.browser, stand, 'ada', '/ui/users');
    await reads(tab, '1 user');
    await press(tab, 'Invite a user');
    await holds(tab, `document.activeElement.labels?.[0]?.innerText === 'Name'`);
    await fillIn(tab, 'Name', 'Nina_');
    await fillIn(tab, 'E-mail', 'nina@example.com');
    await press(tab, 'Create the user');
    await holds(tab, `Object.keys(${FAULTS}).length > 0`);
    expect(Object.keys(await faultsOf(tab))).toEqual(['Name']);
    await fillIn(tab, 'Name', 'nina');
    await press(tab, 'Create the user');
    await reads(tab, 'The user nina is created.');
    expect(await tab.page.evaluate(`document.querySelector('dialog pre').innerText.length`)).toBe(16);
    await tab.page.keyboard.press('Escape');
    await tab.page.keyboard.press('Escape');
    await reads(tab, 'shown only now');
    await press(tab, 'Close');
    await reads(tab, '2 users');
    expect(await tab.page.evaluate('document.body.innerText.includes("shown only now")')).toBe(false);
    expect(tab.complaints).toEqual([]);
  });

  test('the role of an administrator is given only after a question', async () => {
    const stand = await startPage({ accounts: true });
    const tab = await openPage(running.browser, stand, 'ada', '/ui/users/ivy');
    const roleIs = (role: string): Promise<void> =>
      holds(tab, `document.querySelector('.facts').innerText.includes('${role}')`);
    const choose = (role: string): Promise<unknown> => tab.page.select('section[aria-labelledby=role] select', role);
    await holds(tab, `document.querySelectorAll('section[aria-labelledby=role] option').length > 2`);
    await choose('platform-admin');
    await press(tab, 'Give this role');
    await reads(tab, 'ivy will manage users');
    await press(tab, 'Cancel', 'dialog');
    expect(await tab.page.evaluate(`document.querySelector('.facts').innerText`)).not.toContain('platform-admin');
    await press(tab, 'Give this role');
    await press(tab, 'Give this role', 'dialog');
    await roleIs('platform-admin');
    expect(tab.complaints).toEqual([]);
  });

  test('a user is removed only after the name was typed', async () => {
    const stand = await startPage({ accounts: true });
    const tab = await openPage(running.browser, stand, 'ada', '/ui/users/ivy');
    await press(tab, 'Remove');
    await fillIn(tab, 'Type ivy to go on', 'iv');
    expect(await mayPress(tab, 'Remove')).toBe(false);
    expect(await statusOfIvy(stand)).toBe(200);
    await tab.page.keyboard.type('y');
    await press(tab, 'Remove');
    await holds(tab, `location.pathname === '/ui/users'`);
    await reads(tab, 'There is nothing here.');
    await eventually(
      () => statusOfIvy(stand),
      (status) => status === 404,
    );
    expect(tab.complaints).toEqual([]);
  });

  test('a call of the API is tried with the rights of the reader, and is the same for a shell', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'ada', '/ui/api');
    await fillIn(tab, 'Find a call', 'List nodes');
    await reads(tab, '1 call');
    await press(tab, '/kapis/resources.gatehouse.io/v1alpha3/nodes', '#view');
    await fillIn(tab, 'limit', '1');
    await press(tab, 'Send');
    await holds(tab, `document.querySelector('pre.body')?.innerText.includes('totalItems')`);
    expect(await tab.page.evaluate(`document.querySelector('#answer + .listed .state').innerText.trim()`)).toBe('200');
    const body = JSON.parse(String(await tab.page.evaluate(`document.querySelector('pre.body').innerText`)));
    expect([body.totalItems, body.items.length]).toEqual([12, 1]);
    expect(await tab.page.evaluate(`document.querySelector('[aria-labelledby=curl] pre').innerText`)).toBe(
      `curl -sS -g -H "Authorization: Bearer $TOKEN" '${stand.origin}/kapis/resources.gatehouse.io/v1alpha3/nodes?limit=1'`,
    );
    expect(tab.complaints).toEqual([]);
  });

  test('a call that changes something is sent only after a question, and not without what it needs', async () => {
    const stand = await startPage({ accounts: true });
    const tab = await openPage(running.browser, stand, 'ada', '/ui/api/deleteUser');
    await press(tab, 'Send');
    await reads(tab, 'Still missing: user');
    await fillIn(tab, 'user', 'ivy');
    await press(tab, 'Send');
    await reads(tab, 'This call may change something');
    await press(tab, 'Cancel');
    expect(await statusOfIvy(stand)).toBe(200);
    await press(tab, 'Send');
    await reads(tab, 'This call may change something');
    await press(tab, 'Send');
    await eventually(
      () => statusOfIvy(stand),
      (status) => status === 404,
    );
    await holds(tab, `document.querySelector('#answer + .listed .state')?.innerText.trim() === '200'`);
    expect(tab.complaints).toEqual([]);
  });
});
