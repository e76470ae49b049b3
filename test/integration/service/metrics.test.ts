import { beforeAll, describe, expect, test } from 'vitest';
import { CLIENT, eventually, NODES, type Service, startCluster, startService } from './stand.ts';

/** Section 10 of the HTTP contract, without what comes with the gateway, and the reviews under way. */
const NAMES = [
  'http_request_duration_seconds',
  'http_requests_total',
  'http_requests_in_flight',
  'http_connections',
  'http_rejections_total',
  'http_response_bytes_total',
  'token_requests_total',
  'token_verifications_total',
  'token_revocations_total',
  'token_reviews_total',
  'revocation_requests_total',
  'introspection_requests_total',
  'client_authentication_failures_total',
  'refresh_reuse_total',
  'signing_key_info',
  'signing_key_age_seconds',
  'signing_key_rotation_due_seconds',
  'signing_key_rotation_failures_total',
  'password_hash_queue_length',
  'password_hashes_in_flight',
  'password_hash_queue_wait_seconds',
  'password_hash_duration_seconds',
  'password_hash_rejections_total',
  'login_throttled_total',
  'users',
  'security_events_total',
  'authorization_decisions_total',
  'authorization_review_duration_seconds',
  'authorization_cache_entries',
  'authorization_reviews',
  'cache_objects',
  'cache_bytes',
  'cache_synced',
  'cache_epoch',
  'cache_staleness_seconds',
  'reflector_state',
  'reflector_lists_total',
  'reflector_list_duration_seconds',
  'reflector_relists_total',
  'reflector_relist_surprises_total',
  'reflector_watches_total',
  'reflector_watch_events_total',
  'reflector_dropped_events_total',
  'cache_self_checks_total',
  'cluster_request_duration_seconds',
  'cluster_requests_total',
  'cluster_connections',
  'tls_reloads_total',
  'watches',
  'watches_ended_total',
  'watch_fanout_seconds',
  'threadpool_delay_seconds',
  'build_info',
  'log_lines_dropped_total',
  'readiness_check',
].map((name) => `gatehouse_${name}`);

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
  await service.call('/oauth/logout', { token });
}

const nameOf = (line: string): string => line.replace(/[{ ].*/, '');

describe('the metrics, after one request of each kind', () => {
  let page: string;
  let series: readonly string[];
  beforeAll(async () => {
    const service = await startService(await startCluster());
    await askEverything(service);
    // The access log and the counters of an answer come at its end, which a client may see a moment before.
    page = await eventually(
      () => service.metrics(),
      (text) => text.includes('gatehouse_token_revocations_total{scope="session"} 1'),
    );
    series = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  });

  test('have all names of the contract', () => {
    const described = new Set([...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    expect(NAMES.filter((name) => !described.has(name))).toEqual([]);
  });

  test('have values under nearly all names', () => {
    const valued = new Set(series.map((line) => nameOf(line).replace(/_(bucket|sum|count)$/, '')));
    // What has labels and never happened here has no series yet.
    const quiet = ['login_throttled_total', 'reflector_relists_total', 'reflector_watches_total'];
    const quieter = [
      'tls_reloads_total',
      'reflector_dropped_events_total',
      'cache_self_checks_total',
      'reflector_watch_events_total',
    ];
    const missing = NAMES.filter((name) => !valued.has(name)).map((name) => name.replace('gatehouse_', ''));
    expect(missing.filter((name) => ![...quiet, ...quieter].includes(name))).toEqual([]);
  });

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
