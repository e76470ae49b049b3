import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { ROWS } from '../../dev/monitoring/panels.ts';
import { picture } from '../../dev/monitoring/picture.ts';
import { MINUTE_MS } from './clock.ts';
import { type Answers, askPanels } from './dashboard-answers.ts';
import { LASTING_FAULTS } from './faults.ts';
import { startHealthyReplicas } from './healthy.ts';
import { startPrometheus } from './prometheus.ts';
import type { Job } from './recording.ts';
import { type Seen, startFault, type Watched, watchAlerts } from './seen-alerts.ts';

const HEALTHY = ['healthy', 'healthy-tls'];
const GIBIBYTE = 2 ** 30;
/** More than an hour, for the alert that waits for an hour. */
const FOR_MS = 63 * MINUTE_MS;
const PANELS = ROWS.flatMap(({ panels }) => panels);

describe('the rules and the dashboard of a real Prometheus beside healthy replicas that are used for an hour', () => {
  let seen: Seen;
  let answers: Answers;
  let requests: { readonly good: number };
  let scrapedByPrometheus: ReadonlyMap<string, readonly string[]>;
  beforeAll(async () => {
    const healthy = await startHealthyReplicas(() => 8 * GIBIBYTE);
    const jobs: Job[] = [
      { name: 'healthy', ports: healthy.ports },
      { name: 'healthy-tls', ports: [healthy.tlsPort], scheme: 'https' },
    ];
    const watched: Watched[] = jobs.map((job, index) => ({ ...job, run: index === 0 ? healthy.use : async () => {} }));
    for (const fault of LASTING_FAULTS) watched.push(await startFault(fault));
    requests = healthy.answers;
    seen = await watchAlerts(watched, FOR_MS);
    const prometheus = await startPrometheus({ recordings: seen.recordings, jobs });
    scrapedByPrometheus = await prometheus.scraped();
    answers = await askPanels(prometheus, { pods: 'healthy.*', minutes: 60 });
    const file = process.env['MONITORING_PICTURE'];
    if (file) writeFileSync(file, picture(answers));
  });

  test('the replicas were used, and did what they should', () => {
    expect(seen.failures).toEqual([]);
    expect(requests.good).toBeGreaterThan(100);
  });

  test.each(HEALTHY)('no alert fires for %s', (job) => {
    expect(seen.alerts.get(job)?.names).toEqual([]);
  });

  test.each(LASTING_FAULTS)('the fault $name, beside them, fires $fires alone', ({ name, fires }) => {
    expect(seen.alerts.get(name)?.names).toEqual(fires);
  });

  test.each(HEALTHY)('Prometheus scrapes %s itself, and reads the metrics that were recorded', (job) => {
    const recorded = seen.recordings.find((recording) => recording.job.name === job)?.metrics() ?? [];
    expect(recorded.length).toBeGreaterThan(0);
    expect(scrapedByPrometheus.get(job)).toEqual(expect.arrayContaining([...recorded]));
  });

  test.each(PANELS)('the panel "$title" of the dashboard has data for each query', (panel) => {
    expect(answers.withoutData.get(panel)).toEqual([]);
    expect(answers.get(panel)).not.toEqual([]);
  });
});
