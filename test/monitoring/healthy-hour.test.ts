import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { ROWS } from '../../dev/monitoring/panels.ts';
import { picture } from '../../dev/monitoring/picture.ts';
import { type Answers, askPanels } from './dashboard-answers.ts';
import { LASTING_FAULTS } from './faults.ts';
import { startHealthyReplicas } from './healthy.ts';
import { HOUR_MS } from './hurried.ts';
import { type Seen, startFault, type Watched, watchAlerts } from './seen-alerts.ts';

const HEALTHY = ['healthy', 'healthy-tls'];
const GIBIBYTE = 2 ** 30;
/** More than an hour, for the alert that waits for an hour. */
const LONGER_MS = HOUR_MS + 6_000;
const PANELS = ROWS.flatMap(({ panels }) => panels);

describe('a real Prometheus beside healthy replicas that are used for an hour', () => {
  let seen: Seen;
  let answers: Answers;
  let requests: { readonly good: number; readonly failed: number };
  beforeAll(async () => {
    const healthy = await startHealthyReplicas(() => 8 * GIBIBYTE);
    const watched: Watched[] = [
      { name: 'healthy', ports: healthy.ports, run: healthy.use },
      { name: 'healthy-tls', ports: [healthy.tlsPort], scheme: 'https', run: async () => {} },
    ];
    for (const fault of LASTING_FAULTS) watched.push(await startFault(fault));
    requests = healthy.answers;
    const { prometheus, ...result } = await watchAlerts(watched, LONGER_MS);
    seen = result.seen;
    answers = await askPanels(prometheus, { pods: 'healthy.*', seconds: HOUR_MS / 1_000 });
    const file = process.env['MONITORING_PICTURE'];
    if (file) writeFileSync(file, picture(answers));
  }, 300_000);

  test('the replicas were used, and did what they should', () => {
    expect(seen.failures).toEqual([]);
    expect(requests.good).toBeGreaterThan(100);
    expect(requests.failed / requests.good).toBeLessThan(0.01);
  });

  test.each(HEALTHY)('no alert fires for %s', (job) => {
    expect(seen.fired.get(job) ?? []).toEqual([]);
  });

  test.each(LASTING_FAULTS)('the fault $name, beside them, fires $fires alone', ({ name, fires }) => {
    expect(seen.fired.get(name)).toEqual(fires);
  });

  test.each(PANELS)('the panel "$title" of the dashboard has data for each query', (panel) => {
    expect(answers.withoutData.get(panel)).toEqual([]);
    expect(answers.get(panel)).not.toEqual([]);
  });
});
