import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from './answer.ts';
import { authorizeRequest } from './authorize.ts';
import type { Behaviour } from './behaviour.ts';
import type { Evidence } from './evidence.ts';
import { misbehave, openStream, sendAnswer } from './exchange.ts';
import type { Faults } from './faults.ts';
import { negotiateForm } from './form.ts';
import { authenticate } from './identity.ts';
import { checkWatchOptions, parseListOptions } from './list-options.ts';
import { type ApiRequest, readRequest } from './request.ts';
import { answerRequest, type RouteParts } from './routes.ts';
import { ApiError } from './status.ts';
import { watchLines } from './watch.ts';

export interface ServerParts extends RouteParts {
  readonly faults: Faults;
  readonly evidence: Evidence;
  readonly bookmarkIntervalMs: number;
  readonly watchList: boolean;
}

/** Handles one request from its first byte to its last: read, disturb, authenticate, authorize, answer or stream. */
export async function serve(
  message: IncomingMessage,
  response: ServerResponse,
  { connection, parts }: { connection: number; parts: ServerParts },
): Promise<void> {
  const { clock } = parts;
  const request = await readRequest(message, connection);
  const behaviour = parts.faults.take(request);
  parts.evidence.requestRead(request);
  const fault = behaviour && 'stream' in behaviour ? behaviour.stream : undefined;
  const instead = behaviour && !('stream' in behaviour) ? behaviour : undefined;
  if (instead && !instead.afterCommit) return misbehave(response, instead, { message, clock });
  try {
    const answer = await answerOrStream(request, response, { parts, behaviour });
    if (!answer) return;
    if (instead) return await misbehave(response, instead, { message, clock });
    await sendAnswer(response, answer, { message, fault, clock });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await sendAnswer(response, refusal(error), { message, fault, clock });
  }
}

/** Undefined: the request was a watch, and its stream has ended. */
async function answerOrStream(
  request: ApiRequest,
  response: ServerResponse,
  { parts, behaviour }: { parts: ServerParts; behaviour: Behaviour | undefined },
): Promise<Answer | undefined> {
  const caller = authenticate(request.headers.authorization, parts.tokens);
  authorizeRequest(parts.store, caller, request);
  if (request.verb !== 'watch') return answerRequest(request, caller, parts);
  await streamWatch(request, response, { parts, behaviour });
  return undefined;
}

async function streamWatch(
  request: ApiRequest,
  response: ServerResponse,
  { parts, behaviour }: { parts: ServerParts; behaviour: Behaviour | undefined },
): Promise<void> {
  const { store, clock, evidence } = parts;
  const { kind, namespace } = request.target!;
  const form = negotiateForm(request.headers.accept, kind);
  const options = parseListOptions(request, request.target!);
  checkWatchOptions(options, parts.watchList);
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const closed = evidence.watchOpened(kind.plural);
  const body = openStream(response, behaviour && 'stream' in behaviour ? behaviour.stream : undefined, clock);
  try {
    const watch = { collection: store.collection(kind.plural), namespace, options, form };
    for await (const line of watchLines(watch, parts, gone.signal)) {
      if (gone.signal.aborted) break;
      if (!body.write(line)) await body.drained();
    }
    body.end();
  } finally {
    closed();
  }
}

function refusal({ status }: ApiError): Answer {
  const seconds = status.details?.retryAfterSeconds;
  const headers = seconds === undefined ? {} : { 'retry-after': String(seconds) };
  return { code: status.code, text: `${JSON.stringify(status)}\n`, headers };
}
