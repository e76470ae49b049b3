import { expect, test } from 'vitest';
import { openWebsocket } from '../../support/conformance/websocket-client.ts';
import { eventually, type Person, passwordOf, type Service, startCluster, startService } from '../service/stand.ts';

const PLATFORM = 'kubesphere';
/** The console's proxy sends its own `Host`, and the `Origin` of the browser. */
const ORIGIN = 'https://console.example.test';

async function tokenOf(service: Service, username: Person): Promise<string> {
  const form = { grant_type: 'password', client_id: PLATFORM, client_secret: PLATFORM, username };
  const { body } = await service.call('/oauth/token', { form: { ...form, password: passwordOf(username) } });
  return body.access_token;
}

test.each(['/api/v1/watch/nodes', `/apis/iam.${PLATFORM}.io/v1alpha2/watch/users`])(
  'CO-14 %s is a live list by websocket where cors.origins has the address of the console, and else a refusal whose log line names the setting',
  async (path) => {
    const cluster = await startCluster({ isNew: true, platform: PLATFORM });
    cluster.objects.create('users', { metadata: { name: 'mia' }, spec: { email: '' } });
    const opened = async (origins: readonly string[]) => {
      const config = { platform: PLATFORM, gateway: { enabled: true }, cors: { origins } };
      const service = await startService(cluster, { config });
      const target = { url: service.gatehouse.origin, token: await tokenOf(service, 'ada') };
      return { service, answer: await openWebsocket(target, `${path}?timeoutSeconds=1`, { origin: ORIGIN }) };
    };
    const allowed = await opened([ORIGIN]);
    const { status, events } = allowed.answer;
    expect([status, events[0].type]).toEqual([101, 'ADDED']);
    const refused = await opened([]);
    expect(refused.answer.status).toBe(403);
    const line = await eventually(
      () => refused.service.gatehouse.log.find((one) => one['status'] === 403),
      (found) => found !== undefined,
    );
    expect(line?.['reason']).toBe('the Origin is not in cors.origins');
  },
);
