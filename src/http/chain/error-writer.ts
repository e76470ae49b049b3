import { type AnswerWriter, wholeBody } from '../answer/answer.ts';
import { cutOff } from '../answer/cut-off.ts';
import { failureOf, toErrorAnswer } from '../answer/error-body.ts';
import type { Exchange } from '../exchange.ts';

/**
 * Turns an error into an answer; no other code does. The cause of a 5xx is written to the request's log line and never sent. If an answer
 * has already begun, its connection is cut.
 */
export function writeError(writer: AnswerWriter, exchange: Exchange, error: unknown): void {
  const { response } = exchange;
  exchange.failure = failureOf(error);
  if (response.headersSent) return void cutOff(response);
  const answer = toErrorAnswer(error, exchange.requestId, exchange.speaksOAuth);
  exchange.reason ??= answer.reason;
  writer.send(exchange, answer.status, answer.headers, wholeBody(answer.body));
}
