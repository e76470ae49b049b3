import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from '../support/at-end.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { startServer } from '../support/control-plane/server-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/waiting.ts';
import { promtool } from './promtool.ts';
import { INTERVAL_MS, type Job, type Recording } from './recording.ts';

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  /** Seconds since 1970, and the value as text. */
  readonly values: readonly (readonly [number, string])[];
}

/** A real Prometheus that has what was recorded, and scrapes services of its own accord as well. */
export interface Prometheus {
  /** The values of so many minutes up to the end of what was recorded. */
  range(expression: string, minutes: number): Promise<readonly Sample[]>;
  /** By job: the names of the metrics that it scraped itself. Waits until it has scraped every service. */
  scraped(): Promise<ReadonlyMap<string, readonly string[]>>;
}

interface Given {
  readonly recordings: readonly Recording[];
  /** The services that it scrapes itself. */
  readonly jobs: readonly Job[];
}

/** In the dashboard's hour a panel has 40 points. */
const POINTS = 40;

const scrapeConfig = ({ name, ports, scheme }: Job): object => ({
  job_name: name,
  ...(scheme ? { scheme, tls_config: { insecure_skip_verify: true } } : {}),
  static_configs: [{ targets: ports.map((port) => `127.0.0.1:${port}`) }],
});

/** Starts it on a free port with these data (OpenMetrics), and waits until it is ready. Answers its URL. It ends with the test. */
export async function runPrometheus(openMetrics: string, jobs: readonly Job[] = []): Promise<string> {
  const [port = 0] = await freePorts(1);
  const { folder, write } = temporaryFolder();
  const data = join(folder, 'data');
  const made = await promtool(['tsdb', 'create-blocks-from', 'openmetrics', write('recorded', openMetrics), data]);
  if (made.code !== 0) throw new Error(made.text);
  const config = write(
    'prometheus.yaml', // JSON is YAML
    JSON.stringify({ global: { scrape_interval: '5s', scrape_timeout: '5s' }, scrape_configs: jobs.map(scrapeConfig) }),
  );
  const log = join(folder, 'log');
  const args = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${data}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=warn',
  ];
  const server = startServer('prometheus', args, log);
  atEnd(() => server.kill());
  const url = `http://127.0.0.1:${port}`;
  await waitFor(
    () =>
      fetch(`${url}/-/ready`)
        .then(({ status }) => status)
        .catch(() => 0),
    (status) => status === 200,
    { turn: () => sleep(100), lost: () => (server.running ? undefined : readFileSync(log, 'utf8').slice(-2_000)) },
  );
  return url;
}

/** Starts it with these recordings. */
export async function startPrometheus({ recordings, jobs }: Given): Promise<Prometheus> {
  const endedAt = Date.now();
  const url = await runPrometheus(toOpenMetrics(recordings, endedAt), jobs);
  const ask = async (path: string, parameters: Readonly<Record<string, string>>): Promise<readonly Sample[]> => {
    const answer = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const body = (await answer.json()) as Answer;
    if (!body.data) throw new Error(`${parameters['query']}: ${body.error}`);
    return body.data.result.map(({ metric, values = [] }) => ({ metric, values }));
  };
  const query = (text: string) => ask('query', { query: text });
  return {
    range: (text, minutes) => {
      const [end, seconds] = [endedAt / 1_000, minutes * 60];
      return ask('query_range', { query: text, start: `${end - seconds}`, end: `${end}`, step: `${seconds / POINTS}` });
    },
    scraped: async () => {
      const targets = jobs.flatMap(({ ports }) => ports).length;
      const isUp = `max_over_time(up{job!="gatehouse"}[1h]) == 1`;
      await waitFor(
        () => query(isUp),
        ({ length }) => length === targets,
        { turn: () => sleep(200) },
      );
      const metrics = async ({ name }: Job) => {
        const found = await query(`group by (__name__) (last_over_time({job="${name}"}[1h]))`);
        return [name, found.map(({ metric }) => metric['__name__'] ?? '')] as const;
      };
      return new Map(await Promise.all(jobs.map(metrics)));
    },
  };
}

/** The data of these recordings, each of which ended at `endedAt`. */
function toOpenMetrics(recordings: readonly Recording[], endedAt: number): string {
  const lines = recordings.flatMap((recording) => {
    const startedAt = endedAt - (recording.scrapes - 1) * INTERVAL_MS;
    return [...recording.series()].flatMap(([series, values]) =>
      values.flatMap((value, at) =>
        value === undefined ? [] : [`${series} ${value} ${(startedAt + at * INTERVAL_MS) / 1_000}`],
      ),
    );
  });
  return [...lines, '# EOF', ''].join('\n');
}

interface Answer {
  readonly data?: { readonly result: readonly (Pick<Sample, 'metric'> & Partial<Sample>)[] };
  readonly error?: string;
}
