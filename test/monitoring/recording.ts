import { get as getPlain } from 'node:http';
import { get as getOverTls } from 'node:https';
import { text } from 'node:stream/consumers';
import { withTimeLimit } from '../../src/runtime/clock.ts';
import { clock } from './clock.ts';

/** The services of one job. */
export interface Job {
  readonly name: string;
  /** Their metrics ports. */
  readonly ports: readonly number[];
  readonly scheme?: 'https';
}

/** The series of one page, as it writes them, each with its value. */
type Page = ReadonlyMap<string, string>;

/** As the Prometheus operator has it unless told otherwise. Every range in the rules has ten scrapes at least. */
export const INTERVAL_MS = 30_000;

/** As Prometheus has it unless told otherwise. */
const TIME_LIMIT_MS = 10_000;

/**
 * What a Prometheus would keep of a job. Prometheus itself scrapes by the world's clock only, and takes a service for down that a busy
 * machine keeps waiting. So these tests scrape by the clock of the services, and give Prometheus what was scraped.
 */
export class Recording {
  readonly job: Job;
  /** By pod: the page of each scrape, or `undefined` where there was no answer. */
  readonly #pages: readonly (Page | undefined)[][];

  #startedAt = 0;

  constructor(job: Job) {
    this.job = job;
    this.#pages = job.ports.map(() => []);
  }

  /** The time of the first scrape by the wall clock. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /** How often each pod was scraped. */
  get scrapes(): number {
    return Math.min(...this.#pages.map((pages) => pages.length));
  }

  /** Scrapes at each interval of the clock until the signal aborts, and once more after that. */
  async run(signal: AbortSignal): Promise<void> {
    this.#startedAt = clock.now();
    const start = clock.monotonic();
    const { ports, scheme } = this.job;
    const follow = async (port: number, pages: (Page | undefined)[]): Promise<void> => {
      for (let isLast = false; !isLast; ) {
        isLast = signal.aborted;
        pages.push(await scrape(port, scheme));
        await clock.sleep(start + pages.length * INTERVAL_MS - clock.monotonic());
      }
    };
    await Promise.all(ports.map((port, index) => follow(port, this.#pages[index] ?? [])));
  }

  /** The names of Gatehouse's own metrics in the last pages. These stay; Node's come and go with what it is doing. */
  metrics(): readonly string[] {
    const last = this.#pages.flatMap((pages) => [...(pages.at(-1)?.keys() ?? [])]);
    return [...new Set(last.map(metricOf))].filter((name) => name.startsWith('gatehouse_'));
  }

  /** Each series with the labels of a scrape, `up` among them, and its values: one for each scrape, `undefined` where it was not there. */
  series(): ReadonlyMap<string, readonly (string | undefined)[]> {
    const all = new Map<string, (string | undefined)[]>();
    for (const [index, pages] of this.#pages.entries()) {
      const labels = `job="gatehouse",namespace="gatehouse-system",pod="${this.job.name}-${index}"`;
      for (const [at, page] of pages.slice(0, this.scrapes).entries()) {
        for (const [series, value] of [['up', page ? '1' : '0'] as const, ...(page ?? [])]) {
          const name = series.endsWith('}') ? `${series.slice(0, -1)},${labels}}` : `${series}{${labels}}`;
          const values = all.get(name) ?? new Array<undefined>(this.scrapes).fill(undefined);
          values[at] = value;
          all.set(name, values);
        }
      }
    }
    return all;
  }
}

const metricOf = (series: string): string => series.replace(/\{.*/, '');

/** `undefined` when there is no answer with 200 in time. */
async function scrape(port: number, scheme: Job['scheme']): Promise<Page | undefined> {
  const page = (signal: AbortSignal): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path: '/metrics', signal, rejectUnauthorized: false };
      (scheme === 'https' ? getOverTls : getPlain)(options, (answer) => {
        if (answer.statusCode === 200) text(answer).then(resolve, reject);
        else reject(new Error(`answered with ${answer.statusCode}`));
      }).on('error', reject);
    });
  return withTimeLimit(clock, { ms: TIME_LIMIT_MS, signals: [] }, page).then(parsePage, () => undefined);
}

/** A line is a comment, or a series, a blank and a value. */
const parsePage = (page: string): Page =>
  new Map(
    page
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), line.slice(at + 1)] as const;
      }),
  );
