import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { connect } from './mirror.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** The headers that an API server gets of us, in their order, with this user in the kubeconfig. */
async function headersOf(user: string): Promise<readonly string[]> {
  const requests: string[][] = [];
  const server = createServer(({ rawHeaders }, response) => {
    requests.push(rawHeaders);
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { cluster } = await connect({}, (simulated) =>
    simulated
      .kubeconfig()
      .replace(simulated.url, address)
      .replace(/token: .*/, (token) => `${token}\n      ${user}`),
  );
  await cluster.version(AbortSignal.timeout(60_000));
  const [headers = []] = requests;
  const lines = headers.flatMap((value, at) => (at % 2 === 1 ? [`${headers[at - 1]}: ${value}`] : []));
  return lines.filter((line) => /^impersonate/i.test(line));
}

test('a kubeconfig that asks to be taken for somebody else is followed: a header for the user and for each group', async () => {
  expect(await headersOf('as: jürgen\n      as-groups: [dev, ops]\n      as-user-extra: {a/b: [c, d]}')).toEqual([
    `impersonate-user: ${Buffer.from('jürgen').toString('latin1')}`,
    'impersonate-group: dev',
    'impersonate-group: ops',
    'impersonate-extra-a%2Fb: c',
    'impersonate-extra-a%2Fb: d',
  ]);
});

test('a kubeconfig without such a user sends nothing of it', async () => {
  expect(await headersOf('as: ""')).toEqual([]);
});
