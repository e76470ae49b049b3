import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hashOf } from '../../support/passwords.ts';
import { startDriven, startDrivenReady } from './driven.ts';
import { writeFiles } from './program.ts';
import { passwordOf, type Service, startCluster, startService, usersFile } from './stand.ts';

const V1 = 'authentication.k8s.io/v1';

async function ask(service: Service, token: string, caller?: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${service.gatehouse.origin}/oauth/authenticate`, {
    method: 'POST',
    body: JSON.stringify({ apiVersion: V1, kind: 'TokenReview', spec: { token } }),
    headers: { 'Content-Type': 'application/json', ...(caller ? { Authorization: `Bearer ${caller}` } : {}) },
  });
  return { status: answer.status, text: await answer.text() };
}

const NO = `{"apiVersion":"${V1}","kind":"TokenReview","status":{"authenticated":false}}`;

describe('the TokenReview webhook of the service', () => {
  test('N-58 names the user of a token to a caller with the bearer of the file, without asking the cluster', async () => {
    const { token: callerTokenFile } = writeFiles({ token: 'first-caller-token' });
    const config = { authentication: { tokenReview: { callerTokenFile } } };
    const service = await startService(await startCluster(), { config });
    const { access_token: token } = await service.signIn('ada');
    expect(await ask(service, token, 'first-caller-token')).toEqual({
      status: 200,
      text: expect.stringContaining('"status":{"authenticated":true,"user":{"username":"ada","uid":"'),
    });
    expect((await service.metrics()).match(/^gatehouse_authorization_decisions_total\{.*\} [1-9]/m)).toBeNull();
    expect(await service.metric('gatehouse_token_reviews_total{result="authenticated"}')).toBe(1);
  });

  test('N-61 follows the file of the bearer', async () => {
    const { token: callerTokenFile } = writeFiles({ token: 'first-caller-token' });
    const config = { authentication: { tokenReview: { callerTokenFile } } };
    const { service, clock } = await startDrivenReady(await startCluster(), { config });
    writeFileSync(callerTokenFile, 'second-caller-token');
    await clock.until(
      async () => (await ask(service, 'garbage', 'second-caller-token')).status,
      (status) => status === 200,
    );
    expect((await ask(service, 'garbage', 'first-caller-token')).status).toBe(401);
  });

  test('N-61 is closed to everybody by default', async () => {
    const service = await startService(await startCluster());
    const { access_token: token } = await service.signIn('ada');
    for (const caller of [undefined, token, 'anything']) expect((await ask(service, token, caller)).status).toBe(401);
  });

  test('N-59 says no of a user who was disabled', async () => {
    const config = { authentication: { tokenReview: { callerAuth: 'none' } } };
    const { service, clock } = await startDrivenReady(await startCluster(), { config, users: await usersFile() });
    const { access_token: token } = await service.signIn('ada');
    expect((await ask(service, token)).text).toContain('"authenticated":true');
    const passwordHash = await hashOf(passwordOf('ada'));
    service.gatehouse.writeUsers(JSON.stringify({ users: [{ name: 'ada', passwordHash, state: 'Disabled' }] }));
    await clock.until(
      async () => (await ask(service, token)).text,
      (text) => text === NO,
    );
  });

  test('N-60 says nothing of a token while its user may stand in a Secret that cannot be read', async () => {
    const cluster = await startCluster();
    const config = { authentication: { tokenReview: { callerAuth: 'none' } }, users: { firstAdministrator: {} } };
    const first = await startService(cluster, { config });
    const { data } = cluster.objects.get('secrets', 'default/gatehouse-first-administrator') as unknown as Secret;
    const signedIn = await first.signInAnswer('admin', Buffer.from(data.password, 'base64').toString());
    await first.gatehouse.stop();
    const readable = cluster.faults.until({ kind: 'secrets', name: 'gatehouse-first-administrator' }, { status: 500 });
    const { service, clock } = await startDriven(cluster, { config });
    const answer = async () => ask(service, signedIn.body.access_token);
    await clock.until(
      () => service.call('/readyz/signing-key'),
      ({ status }) => status === 200,
    );
    expect((await answer()).status).toBe(503);
    expect((await ask(service, 'garbage')).status).toBe(503);
    readable();
    expect((await clock.until(answer, ({ status }) => status === 200)).text).toContain('"username":"admin"');
  });
});

interface Secret {
  readonly data: { readonly password: string };
}
