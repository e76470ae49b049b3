import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../../support/browser.ts';
import {
  CLIENT,
  CONFIDENTIAL,
  eventually,
  NODES,
  passwordOf,
  type Service,
  startCluster,
  startService,
} from './stand.ts';

/** The first column of the table of docs/contract/http.md, section 10. */
function documentedNames(): readonly string[] {
  const page = readFileSync(new URL('../../../docs/contract/http.md', import.meta.url), 'utf8');
  const [, section = ''] = page.split('\n## 10. Metrics\n');
  const cells = (section.split('\n## ')[0] ?? '').matchAll(/^\| (`[^|]+`) \|/gm);
  return [...cells].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name]) => `gatehouse_${name}`),
  );
}

const NAMES = documentedNames();

interface LabelValues {
  readonly name: string;
  readonly label: string;
  readonly values: readonly string[];
}

/** The values that the same table lists for labels of counters: "`bucket` (`user`, `address`)". */
function documentedValues(): readonly LabelValues[] {
  const page = readFileSync(new URL('../../../docs/contract/http.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| ([^|]+) \| ((?:counter|gauge|histogram|; )+) \| ([^|]+) \|/gm)];
  return rows.flatMap(([, names = '', types = '', labels = '']) => {
    // "`a`, `b` | counter | –; `label`": a row of several metrics may have their types and labels in the same order.
    const [kinds, sets] = [types.split('; '), labels.split('; ')];
    return [...names.matchAll(/`(\w+)`/g)].flatMap(([, name = ''], i) => {
      if ((kinds[i] ?? kinds[0]) !== 'counter') return [];
      const set = sets.length > 1 ? (sets[i] ?? '') : labels;
      return [...set.matchAll(/`(\w+)` \(((?:`\w+`(?:, )?)+)\)/g)].map(([, label = '', values = '']) => ({
        name: `gatehouse_${name}`,
        label,
        values: [...values.matchAll(/`(\w+)`/g)].map(([, value = '']) => value),
      }));
    });
  });
}

const WEB = { name: 'web', secret: 'made-up-web', redirectURIs: ['https://app.example.com/callback'] };
const CLIENTS = [...CONFIDENTIAL.oauthOptions.clients, WEB];

/** A person signs in with a browser, after a wrong password; the code is used twice. */
async function signInByBrowser(service: Service): Promise<void> {
  const url = new URL(`${service.gatehouse.origin}/oauth/authorize?client_id=web&response_type=code`);
  const browser = new Browser();
  const page = await browser.open(url);
  await browser.submit(page, { username: 'ada', password: 'wrong' });
  const { headers } = await browser.submit(page, { username: 'ada', password: passwordOf('ada') });
  await browser.open(url);
  const code = new URL(headers['location'] ?? '').searchParams.get('code') ?? '';
  const form = { grant_type: 'authorization_code', client_id: WEB.name, client_secret: WEB.secret, code };
  for (let time = 0; time < 2; time++) await service.call('/oauth/token', { form });
  await browser.open(new URL('/oauth/logout', url));
}

/** One request of each kind that there is, good and bad. */
async function askEverything(service: Service): Promise<void> {
  const pair = await service.signIn('ada');
  const joe = await service.signIn('joe');
  const token = pair.access_token;
  for (const path of ['/healthz', '/livez', '/readyz', '/version', '/openapi/platform.json', '/oauth/keys', '/unknown'])
    await service.call(path);
  for (const query of ['', '?limit=1', '?foo=1']) await service.list(token, query);
  await service.call(`${NODES}/node-a`, { token });
  await service.call(`${NODES}/zzz`, { token });
  await service.call(NODES, { token, method: 'DELETE' });
  await service.call('/kapis', { token });
  await service.call('/kapis/resources.gatehouse.io/v1alpha3/pods', { token });
  await service.list(joe.access_token);
  await service.list('');
  await service.list('nonsense');
  await service.call('//kapis');
  await service.signInAnswer('ada', 'wrong');
  await service.call('/oauth/token', { form: { grant_type: 'password', ...CLIENT, client_secret: 'wrong' } });
  await service.refresh(pair.refresh_token);
  await service.refresh('nonsense');
  await service.call('/oauth/userinfo', { token });
  await service.call('/oauth/introspect', { form: { ...CLIENT, token } });
  await service.call('/oauth/revoke', { form: { ...CLIENT, token: 'nonsense' } });
  await service.call('/oauth/authenticate', { method: 'POST' });
  await signInByBrowser(service);
  await service.call('/oauth/logout', { token });
}

const nameOf = (line: string): string => line.replace(/[{ ].*/, '');

/** Counters with a label whose values nobody can list: routes, and status codes of answers. */
const OPEN = ['http_requests_total', 'http_response_bytes_total', 'cluster_requests_total'];

const seriesOf = (page: string): string[] => page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

/** The series of counters whose labels have a known set of values, without their numbers. */
const closedCounters = (page: string): string[] =>
  seriesOf(page)
    .map((line) => line.replace(/ \S+$/, ''))
    .filter((one) => /^gatehouse_\w+_total/.test(one) && !OPEN.some((name) => nameOf(one) === `gatehouse_${name}`));

describe('the metrics, after one request of each kind', () => {
  let fresh: string;
  let page: string;
  let series: readonly string[];
  beforeAll(async () => {
    const config = { authentication: { oauthOptions: { clients: CLIENTS } } };
    const service = await startService(await startCluster(), { config });
    fresh = await service.metrics();
    await askEverything(service);
    // The access log and the counters of an answer come at its end, which a client may see a moment before.
    page = await eventually(
      () => service.metrics(),
      (text) => text.includes('gatehouse_token_revocations_total{scope="session"} 2'),
    );
    series = seriesOf(page);
  });

  test('have all names of the contract', () => {
    expect(NAMES.length).toBeGreaterThan(50);
    const described = new Set([...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    expect(NAMES.filter((name) => !described.has(name))).toEqual([]);
  });

  test('have values under all names but those of TLS and of a memory limit, which this service has not', () => {
    const valued = new Set(series.map((line) => nameOf(line).replace(/_(bucket|sum|count)$/, '')));
    const missing = NAMES.filter((name) => !valued.has(name)).map((name) => name.replace('gatehouse_', ''));
    expect(missing).toEqual([
      'tls_reloads_total',
      'tls_certificate_expiration_timestamp_seconds',
      'memory_limit_bytes',
    ]);
  });

  // No increase is seen of a series that begins at 1.
  test('have had every series of a counter with a closed label set since the start', () => {
    const before = closedCounters(fresh);
    expect(before.length).toBeGreaterThan(200);
    expect(closedCounters(page).filter((one) => !before.includes(one))).toEqual([]);
  });

  test.each(documentedValues())(
    'counter $name has every documented $label from the start',
    ({ name, label, values }) => {
      const found = closedCounters(fresh).filter((one) => nameOf(one) === name);
      const missing = values.filter((value) => !found.some((one) => one.includes(`${label}="${value}"`)));
      expect(missing).toEqual([]);
    },
  );

  test('have no other name of ours than the contract’s and what the users file adds', () => {
    const ours = [...page.matchAll(/^# TYPE (gatehouse_\S+)/gm)].map(([, name]) => name);
    expect(ours.filter((name) => !NAMES.includes(name ?? ''))).toEqual(['gatehouse_users_file_reloads_total']);
  });

  test('are at most 2,000 series', () => {
    expect(series.length).toBeLessThanOrEqual(2_000);
  });

  test('name no user, node, path or address', () => {
    expect(page.match(/\b(ada|joe|node-a|zzz|unknown"|127\.0\.0\.1)\b/g) ?? []).toEqual([]);
  });

  test('count each answer once, by template', () => {
    const count = (labels: string): string | undefined =>
      series.find((line) => line.startsWith(`gatehouse_http_requests_total{${labels}}`))?.split(' ')[1];
    expect(count(`method="GET",route="${NODES}",code="200"`)).toBe('2');
    expect(count(`method="GET",route="${NODES}",code="400"`)).toBe('1');
    expect(count(`method="GET",route="${NODES}",code="403"`)).toBe('1');
    expect(count(`method="GET",route="${NODES}",code="401"`)).toBe('2');
    expect(count(`method="GET",route="${NODES}/{name}",code="404"`)).toBe('1');
  });
});

describe('the metrics with the gateway', () => {
  test('are those of docs/contract/gateway.md, section 9, with each reason from the start', async () => {
    const contract = readFileSync(new URL('../../../docs/contract/gateway.md', import.meta.url), 'utf8');
    const [, section = ''] = contract.split('\n## 9. Metrics\n');
    const cells = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| (`[^|]+`) \|/gm)];
    const words = cells.flatMap(([, cell = '']) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, word = '']) => word));
    const service = await startService(await startCluster(), { config: { gateway: { enabled: true } } });
    const page = await service.metrics();
    const named = (family: RegExp): string[] => [...page.matchAll(family)].map(([, name = '']) => name);
    const documented = words.filter((word) => word.startsWith('gateway_'));
    expect(named(/^# TYPE gatehouse_(gateway_\w+)/gm).sort()).toEqual(documented.sort());
    const reasons = words.filter((word) => !word.startsWith('gateway_') && word !== 'reason');
    expect(named(/^gatehouse_gateway_refusals_total\{reason="(\w+)"\} 0$/gm).sort()).toEqual(reasons.sort());
  });
});
