import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { Agent, fetch } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';
import { NODES } from '../integration/service/stand.ts';
import { atEnd } from '../support/at-end.ts';
import { FormBrowser, type Page } from '../support/form-browser.ts';
import { waitFor } from '../support/waiting.ts';
import {
  CONFIDENTIAL,
  type KubectlStand,
  type Person,
  PUBLIC,
  type Running,
  startKubectlStand,
} from './kubectl-stand.ts';

const LIST = ['get', 'nodes', '--output', 'name'];
const LISTED = { code: 0, stdout: 'node/node-a\n' };

const ADA = { username: 'ada', password: 'ada-password' };

/** Limits what hangs: nothing takes longer, even on a machine that is busy. */
const LIMIT_MS = 120_000;

interface Tokens {
  readonly id_token: string;
  readonly refresh_token: string;
}

let stand: KubectlStand;
/** Two people whose ID tokens end a minute after their sign-in: the other tests run meanwhile. */
let early: { readonly ada: Person; readonly other: Person; readonly endsAt: number };

beforeAll(async () => {
  stand = await startKubectlStand();
  const [ada, other] = [await stand.person(), await stand.person()];
  for (const person of [ada, other]) expect(await signedIn(person)).toMatchObject(LISTED);
  early = { ada, other, endsAt: 1_000 * (decodeJwt((await cached(other)).id_token).exp ?? 0) };
});

/** Runs kubectl, which asks the person to sign in. */
async function signedIn(person: Person, args: readonly string[] = LIST) {
  const run = person.kubectl(args);
  await signIn(await asked(run));
  return run.ended;
}

/** The address that the plug-in prints for the person. */
async function asked(run: Running): Promise<string> {
  const address = () => /in your browser: (\S+)/.exec(run.said())?.[1];
  const lost = () => (run.hasEnded() ? `it has ended: ${run.said()}` : undefined);
  return (await waitFor(address, Boolean, { turn: () => sleep(20), limitMs: LIMIT_MS, lost })) ?? '';
}

/** Waits for the end of a run that asks the person nothing. */
async function unasked(run: Running) {
  const lost = () => (run.said().includes('in your browser') ? `the person is asked: ${run.said()}` : undefined);
  await waitFor(run.hasEnded, Boolean, { turn: () => sleep(20), limitMs: LIMIT_MS, lost });
  return run.ended;
}

/** What a person does in the browser. Answers the sign-in page. */
async function signIn(address: string): Promise<Page> {
  const browser = new FormBrowser({ ca: stand.ca });
  const page = await browser.open(address);
  expect((await browser.submit(page, ADA)).text).toBe('You can close this window.\n');
  return page;
}

/** The tokens that the plug-in has. */
async function cached({ cacheFolder }: Person): Promise<Tokens> {
  const [file = ''] = await readdir(cacheFolder);
  return JSON.parse(await readFile(join(cacheFolder, file), 'utf8')) as Tokens;
}

/** Waits until the ID tokens of the early people have ended. A cluster compares whole seconds. */
const ended = (): Promise<number> =>
  waitFor(Date.now, (now) => now > early.endsAt + 1_000, { turn: () => sleep(100), limitMs: LIMIT_MS });

describe('kubectl with what kubelogin does, and a kube-apiserver that verifies our ID tokens', () => {
  test('B-03 B-07 B-08 B-09 ID-02 the cluster knows a person who signed in by browser, with the groups', async () => {
    const person = await stand.person();
    const run = person.kubectl(['auth', 'whoami', '--output', 'json']);
    const { url } = await signIn(await asked(run));
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      access_type: 'offline',
      client_id: PUBLIC,
      code_challenge_method: 'S256',
      nonce: expect.any(String),
      redirect_uri: expect.stringMatching(/^http:\/\/localhost:\d+$/),
      scope: 'groups openid',
    });
    const { stdout } = await run.ended;
    expect(JSON.parse(stdout).status.userInfo).toMatchObject({
      username: 'gatehouse:ada',
      groups: ['readers', 'system:authenticated'],
    });
  });

  test('asks nobody while the ID token lives', async () => {
    const person = await stand.person(CONFIDENTIAL_LOGIN);
    expect(await signedIn(person)).toMatchObject(LISTED);
    const first = await cached(person);
    expect(await unasked(person.kubectl(LIST))).toEqual({ ...LISTED, stderr: '' });
    expect(await cached(person)).toEqual(first);
  });

  test('ID-01 ID-04 goes on after the end of the ID token without asking the person', async () => {
    const first = await cached(early.ada);
    await ended();
    expect(await unasked(early.ada.kubectl(LIST))).toEqual({ ...LISTED, stderr: '' });
    const second = await cached(early.ada);
    const { sid, auth_time, exp = 0, iat = 0 } = decodeJwt(second.id_token);
    expect(decodeJwt(first.id_token)).toMatchObject({ sid, auth_time });
    expect(exp - iat).toBe(60);
    expect(second.refresh_token).not.toBe(first.refresh_token);
  });

  test('T-31 the person signs in again after a sign-out, when the ID token has ended', async () => {
    const { refresh_token: token } = await cached(early.other);
    expect((await post('/oauth/revoke', { client_id: PUBLIC, token })).status).toBe(200);
    await ended();
    const again = await signedIn(early.other);
    expect(again).toMatchObject(LISTED);
    expect(again.stderr).toMatch(/could not refresh the token: oauth2: "invalid_grant"/);
  });

  test.each([
    ['http://localhost:8000', 200],
    ['http://localhost:18000', 200],
    ['http://localhost:8000/', 400],
    ['http://127.0.0.1:8000', 400],
  ])('B-03 the redirect address %s is answered %i', async (redirect_uri, status) => {
    const url = new URL(`${stand.issuer}/authorize`);
    const form = { client_id: CONFIDENTIAL.name, response_type: 'code', scope: 'openid', redirect_uri };
    url.search = new URLSearchParams(form).toString();
    expect((await new FormBrowser({ ca: stand.ca }).open(url)).status).toBe(status);
  });
});

const CONFIDENTIAL_LOGIN = { clientId: CONFIDENTIAL.name, clientSecret: CONFIDENTIAL.secret };

/** x/oauth2 sends a refused redemption again, with the secret in the form. */
describe('a code that golang.org/x/oauth2 sends twice', () => {
  test('B-41 B-42 is still good after two attempts with a wrong secret', async () => {
    const person = await stand.person({ ...WITHOUT_PKCE, clientSecret: 'wrong' });
    const run = person.plugin();
    const callback = await callbackOf(await asked(run));
    const [before, after] = await counted('grant_type="none",result="invalid_client"', () => visit(callback, run));
    expect(after - before).toBe(2);
    expect((await run.ended).stderr).toMatch(/"invalid_client"/);
    const redeemed = await redeem(callback);
    expect([redeemed.status, decodeJwt(redeemed.body.id_token ?? '').sub]).toEqual([200, 'ada']);
    expect((await stand.gatehouse.get(NODES, redeemed.body.access_token ?? '')).status).not.toBe(401);
  });

  test('B-42 is refused twice when it was used before, and its session ends', async () => {
    const person = await stand.person(WITHOUT_PKCE);
    const run = person.plugin();
    const callback = await callbackOf(await asked(run));
    const { access_token = '' } = (await redeem(callback)).body;
    expect((await stand.gatehouse.get(NODES, access_token)).status).not.toBe(401);
    const refused = 'grant_type="authorization_code",result="invalid_grant"';
    const [before, after] = await counted(refused, () => visit(callback, run));
    expect(after - before).toBe(2);
    expect((await run.ended).stderr).toMatch(/"invalid_grant"/);
    expect((await stand.gatehouse.get(NODES, access_token)).status).toBe(401);
  });
});

/** So that the test can redeem the code, too. */
const WITHOUT_PKCE = { ...CONFIDENTIAL_LOGIN, args: ['--oidc-pkce-method=no'] };

/** Signs in, and keeps the answer from the plug-in. */
async function callbackOf(address: string): Promise<URL> {
  const browser = new FormBrowser({ ca: stand.ca, stopsAt: (url) => url.searchParams.has('code') });
  return (await browser.submit(await browser.open(address), ADA)).url;
}

/** Gives the answer to the plug-in, which then fails. */
async function visit(callback: URL, run: Running): Promise<void> {
  await new FormBrowser().open(callback);
  expect((await run.ended).code).toBe(1);
}

async function counted(labels: string, act: () => Promise<void>): Promise<readonly [number, number]> {
  const series = `gatehouse_token_requests_total{${labels}}`;
  const before = await stand.gatehouse.metric(series);
  await act();
  return [before, await stand.gatehouse.metric(series)];
}

async function redeem(callback: URL) {
  const { name: client_id, secret: client_secret } = CONFIDENTIAL;
  const code = callback.searchParams.get('code') ?? '';
  const form = { grant_type: 'authorization_code', client_id, client_secret, code, redirect_uri: callback.origin };
  const answer = await post('/oauth/token', form);
  return { status: answer.status, body: (await answer.json()) as { access_token?: string; id_token?: string } };
}

function post(path: string, form: Readonly<Record<string, string>>) {
  const dispatcher = new Agent({ connect: { ca: stand.ca } });
  atEnd(() => dispatcher.destroy());
  return fetch(new URL(path, stand.issuer), { method: 'POST', body: new URLSearchParams(form), dispatcher });
}
