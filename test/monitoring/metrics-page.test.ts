import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startCluster, startService } from '../integration/service/stand.ts';
import { selfSigned } from '../support/self-signed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { promtool } from './promtool.ts';

const { cert, key } = selfSigned('localhost');

/** Gatehouse with every setting that adds metrics. */
async function pageWithAllMetrics(): Promise<string> {
  const { write } = temporaryFolder();
  const tls = { certFile: write('tls.crt', cert), keyFile: write('tls.key', key) };
  const service = await startService(await startCluster(), {
    memoryLimit: () => 2 ** 29,
    config: {
      server: { tls },
      sessions: { store: 'kubernetes' },
      logging: { host: 'http://127.0.0.1:9' },
      monitoring: { prometheus: 'http://127.0.0.1:9' },
      authentication: { serviceAccountTokens: { enabled: true, audience: 'gatehouse' } },
    },
  });
  const { metricsPort: port } = service.gatehouse;
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: '/metrics', ca: cert }, (answer) => text(answer).then(resolve, reject))
      .once('error', reject)
      .end();
  });
}

test('the metrics port serves what promtool has nothing to say of, over TLS', async () => {
  const page = await pageWithAllMetrics();
  for (const name of [
    'users_file_reloads_total',
    'session_record_lag_seconds_bucket',
    'authorization_recent_questions',
    'service_account_keys',
    'log_queries_in_flight',
    'prometheus_queries',
  ])
    expect(page).toContain(`\ngatehouse_${name}`);
  expect(await promtool(['check', 'metrics'], page)).toEqual({ code: 0, text: '' });
});
