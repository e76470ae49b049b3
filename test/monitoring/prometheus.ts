import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from '../support/at-end.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { startServer } from '../support/control-plane/server-process.ts';

/** What a Prometheus scrapes as one job. */
export interface Job {
  readonly name: string;
  readonly ports: readonly number[];
  readonly scheme?: 'https';
}

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  /** Seconds since 1970, and the value as text. */
  readonly values: readonly (readonly [number, string])[];
}

/** A real Prometheus that scrapes these jobs and evaluates these rules. */
export interface Prometheus {
  /** The value now: one for each series. */
  query(expression: string): Promise<readonly Sample[]>;
  /** The values of `seconds`, up to so many seconds ago. */
  range(expression: string, seconds: number, ago: number): Promise<readonly Sample[]>;
  /** The summaries and descriptions of the alerts that are active now. */
  alertTexts(): Promise<readonly string[]>;
}

const INTERVAL = '2s';
const EVALUATION = '1s';

const scrapeConfig = ({ name, ports, scheme }: Job): object => ({
  job_name: name,
  ...(scheme ? { scheme, tls_config: { insecure_skip_verify: true } } : {}),
  // The labels that the Prometheus operator gives to the series of a pod.
  static_configs: ports.map((port, index) => ({
    targets: [`127.0.0.1:${port}`],
    labels: { namespace: 'gatehouse-system', pod: `${name}-${index}` },
  })),
});

/** Starts it on a free port, and waits until it is ready. It ends with the test. */
export async function startPrometheus(jobs: readonly Job[], rules: string): Promise<Prometheus> {
  const [port = 0] = await freePorts(1);
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-prometheus-'));
  const config = {
    global: { scrape_interval: INTERVAL, scrape_timeout: INTERVAL, evaluation_interval: EVALUATION },
    rule_files: [join(folder, 'rules.yaml')],
    scrape_configs: jobs.map(scrapeConfig),
  };
  writeFileSync(join(folder, 'rules.yaml'), rules);
  writeFileSync(join(folder, 'prometheus.yaml'), JSON.stringify(config)); // JSON is YAML
  mkdirSync(join(folder, 'data'));
  const log = join(folder, 'log');
  const args = [
    `--config.file=${join(folder, 'prometheus.yaml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=warn',
  ];
  const server = startServer('prometheus', args, log);
  atEnd(async () => {
    await server.kill();
    rmSync(folder, { recursive: true });
  });
  const url = `http://127.0.0.1:${port}`;
  while ((await fetch(`${url}/-/ready`).catch(() => undefined))?.status !== 200) {
    if (!server.running) throw new Error(`prometheus ended: ${readFileSync(log, 'utf8').slice(-2_000)}`);
    await sleep(100);
  }
  const ask = async (path: string, parameters: Readonly<Record<string, string>>): Promise<Answer> => {
    const answer = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const body = (await answer.json()) as { readonly data?: Answer; readonly error?: string };
    if (!body.data) throw new Error(`${parameters['query']}: ${body.error}`);
    return body.data;
  };
  return {
    query: async (query) =>
      (await ask('query', { query })).result.map(({ metric, value }) => ({ metric, values: value ? [value] : [] })),
    range: async (query, seconds, ago) => {
      const end = Date.now() / 1_000 - ago;
      const parameters = { query, start: `${end - seconds}`, end: `${end}`, step: `${seconds / 40}` };
      return (await ask('query_range', parameters)).result.map(({ metric, values = [] }) => ({ metric, values }));
    },
    alertTexts: async () => {
      const answer = await fetch(`${url}/api/v1/alerts`);
      const { data } = (await answer.json()) as { readonly data: { readonly alerts: readonly ActiveAlert[] } };
      return data.alerts.flatMap(({ annotations }) => [annotations['summary'] ?? '', annotations['description'] ?? '']);
    },
  };
}

interface ActiveAlert {
  readonly annotations: Readonly<Record<string, string>>;
}

interface Answer {
  readonly result: readonly {
    readonly metric: Sample['metric'];
    readonly value?: Sample['values'][number];
    readonly values?: Sample['values'];
  }[];
}
