import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Registry } from 'prom-client';
import type { Clock } from '../../runtime/clock.ts';
import { chooseCoding } from '../answer/accept.ts';
import { type AnswerWriter, wholeBody } from '../answer/answer.ts';
import { createCors } from '../answer/cors.ts';
import { createBegin } from '../chain/begin.ts';
import { type App, createRouter, middleware, serveRouter } from '../chain/chain.ts';
import { createGuard } from '../chain/guard.ts';
import { answerMethod, mountRoutes, refuseUnknownPaths } from '../chain/routes.ts';
import type { Handler, Route } from '../exchange.ts';
import { Connections } from './connections.ts';
import { type HttpServer, type HttpServerOptions, type HttpServerParts, servePort } from './server.ts';
import { createCallerAddress } from './source-address.ts';

export interface MetricsAppParts extends Omit<HttpServerParts, 'onDraining' | 'onClosing'> {
  /** The guard puts it into its challenge as the realm, although this port asks for no credentials. */
  readonly platform: string;
  readonly writer: AnswerWriter;
}

/** The app of the metrics port, which serves `/metrics` and nothing else. */
function createMetricsApp(parts: MetricsAppParts): App {
  const { limits, metrics, registry, platform, writer, clock, random, logger } = parts;
  const cors = createCors([]);
  const method = middleware(answerMethod(writer, cors));
  const router = createRouter();
  mountRoutes(router, [metricsRoute(registry, writer, clock)], () => [method]);
  router.use(method, middleware(refuseUnknownPaths(platform)));
  const guard = createGuard({ platform, limits, metrics });
  return serveRouter(router, {
    guard,
    writer,
    begin: createBegin({ clock, random, logger, metrics, cors, addressOf: createCallerAddress([]) }),
  });
}

const compress = promisify(gzip);

/**
 * `/metrics` of the metrics port, in the format that the scraper asks for. It needs no credentials, so the port must not be
 * reachable from outside.
 */
export function metricsRoute(registry: Registry, writer: AnswerWriter, clock: Pick<Clock, 'monotonic'>): Route {
  const handler: Handler = async (exchange) => {
    const { accept, 'accept-encoding': acceptEncoding } = exchange.request.headers;
    const open = accept?.includes('application/openmetrics-text') ?? false;
    const text = await pageOf(registry, clock);
    const plain = Buffer.from(open ? toOpenMetrics(text) : text);
    const coding = chooseCoding(acceptEncoding as string | undefined);
    exchange.coding = coding;
    const headers = {
      'Content-Type': open ? OPEN_METRICS : registry.contentType,
      'Cache-Control': 'no-store',
      Vary: 'Accept, Accept-Encoding',
      ...(coding === 'gzip' ? { 'Content-Encoding': 'gzip' } : {}),
    };
    writer.send(exchange, 200, headers, wholeBody(coding === 'gzip' ? await compress(plain) : plain));
  };
  return {
    template: '/metrics',
    access: 'public',
    admission: 'health',
    produces: 'any',
    methods: { GET: handler, HEAD: handler },
  };
}

/** The longest time that the page may take in one turn of the event loop. */
const SLICE_MS = 4;

/** The text of all metrics, as `registry.metrics()` returns it, but made over several turns of the event loop if it takes long. */
async function pageOf(registry: Registry, clock: Pick<Clock, 'monotonic'>): Promise<string> {
  const texts: string[] = [];
  let beganAt = clock.monotonic();
  for (const { name } of registry.getMetricsAsArray()) {
    texts.push(await registry.getSingleMetricAsString(name));
    if (clock.monotonic() - beganAt < SLICE_MS) continue;
    await nextTurn();
    beganAt = clock.monotonic();
  }
  return `${texts.join('\n\n')}\n`;
}

const OPEN_METRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/**
 * Converts the Prometheus text format to OpenMetrics: `# HELP` and `# TYPE` name counters without `_total`, blank lines are
 * dropped, and `# EOF` is added. The OpenMetrics mode of prom-client is not used, because it renames the counters of the registry
 * for good.
 */
export function toOpenMetrics(text: string): string {
  const lines = text.split('\n').filter((line) => line !== '');
  const counters = new Set(
    lines.flatMap((line) => /^# TYPE (\S+)_total counter$/.exec(line)?.[1] ?? []).map((name) => `${name}_total`),
  );
  const rewritten = lines.map((line) => {
    const [, keyword, name = '', rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (counters.has(name)) return `# ${keyword} ${name.slice(0, -'_total'.length)} ${rest}`;
    return rest === 'counter' ? `# TYPE ${name} unknown` : line;
  });
  return `${rewritten.join('\n')}\n# EOF\n`;
}

/** The metrics port. It stays open as long as the API port, so that a shutdown can be observed. */
export function createMetricsServer(options: HttpServerOptions, parts: MetricsAppParts): HttpServer {
  const connections = new Connections(parts.limits, parts.metrics.rejected);
  const app = createMetricsApp(parts);
  const { limits, clock, random, logger, registry, metrics } = parts;
  const own = { limits, clock, random, logger, registry, metrics, onDraining: () => {} };
  return servePort({ name: 'metrics', options, app, connections }, own);
}
