import { readQueryPairs } from '../../runtime/text/query-pairs.ts';
import { badRequest, StatusError } from '../../status-error.ts';
import { type AnswerWriter, wholeBody } from '../answer/answer.ts';
import { resourceNotFound } from '../answer/refusals.ts';
import type { Exchange, Handler, Route } from '../exchange.ts';
import { HEALTH_ENDPOINTS, type Health, type HealthEndpoint, type HealthReport, type HealthResult } from '../health.ts';

/** `/healthz`, `/livez`, `/readyz` and each of their checks: without a token, without a limit, never cached. */
export function healthRoutes(health: Health, writer: AnswerWriter): Route[] {
  return HEALTH_ENDPOINTS.flatMap((endpoint) => [
    healthRoute(`/${endpoint}`, (exchange) => answerHealth({ health, writer, endpoint }, exchange)),
    healthRoute(`/${endpoint}/{check}`, (exchange) => {
      const [check = ''] = exchange.parameters;
      if (!health.names(endpoint).includes(check)) throw resourceNotFound();
      answerHealth({ health, writer, endpoint }, exchange, check);
    }),
  ]);
}

const healthRoute = (template: string, handler: Handler): Route => ({
  template,
  access: 'public',
  admission: 'health',
  produces: 'any',
  methods: { GET: handler, HEAD: handler },
});

interface HealthAnswerParts {
  readonly health: Health;
  readonly writer: AnswerWriter;
  readonly endpoint: HealthEndpoint;
}

function answerHealth({ health, writer, endpoint }: HealthAnswerParts, exchange: Exchange, only?: string): void {
  const pairs = readQueryPairs(exchange.target.query);
  if ('fault' in pairs) throw badRequest(pairs.fault);
  const excluded = pairs.filter(([name]) => name === 'exclude').map(([, value]) => value);
  const report = health.report(endpoint, new Set(excluded), only);
  if (!report.holds) throw failed(endpoint, report);
  const text = pairs.some(([name]) => name === 'verbose') ? verbose(endpoint, report) : 'ok';
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' };
  writer.send(exchange, 200, headers, wholeBody(Buffer.from(text)));
}

/** Only a missing right is named in the answer; other reasons are only logged. */
const failedText = ({ missingRight = 'reason withheld', counts }: HealthResult): string =>
  `failed: ${missingRight}${counts ? '' : ' (does not count)'}`;

function verbose(endpoint: HealthEndpoint, report: HealthReport): string {
  const lines = report.results.map((result) => {
    if (!result.holds) return `[-]${result.name} ${failedText(result)}`;
    return `[+]${result.name} ${result.excluded ? 'excluded: ok' : 'ok'}`;
  });
  return [...lines, `${endpoint} check passed`].join('\n');
}

function failed(endpoint: HealthEndpoint, report: HealthReport): StatusError {
  const causes = report.results
    .filter((result) => !result.holds)
    .map((result) => ({ reason: 'CheckFailed', message: failedText(result), field: result.name }));
  return new StatusError('ServiceUnavailable', {
    message: `${endpoint} check failed`,
    details: { causes },
  });
}
