import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Answer, plain } from './answer.ts';
import { authorizeRequest } from './authorize.ts';
import type { StreamFault } from './behaviour.ts';
import type { Body } from './body.ts';
import type { Evidence } from './evidence.ts';
import { misbehave, openStream, sendAnswer } from './exchange.ts';
import type { Faults } from './faults.ts';
import { authenticate } from './identity.ts';
import { actingIdentity } from './impersonation.ts';
import { checkWatchOptions, parseListOptions } from './list-options.ts';
import type { PodLogs } from './logs/pod-logs.ts';
import { isForLog, serveLog } from './logs/serve-log.ts';
import { negotiateForm } from './negotiation.ts';
import { presented } from './presentation.ts';
import { type ApiRequest, isForAway, readRequest } from './request.ts';
import { answerRequest, type RouteParts } from './routes.ts';
import { ApiError, TextError } from './status.ts';
import { watchLines } from './watch.ts';
import { isAcceptable, openWebsocket } from './websocket.ts';

export interface ServerParts extends RouteParts {
  readonly faults: Faults;
  readonly evidence: Evidence;
  readonly bookmarkIntervalMs: number;
  readonly watchList: boolean;
  readonly podLogs: PodLogs;
}

/**
 * Handles one request from its first byte to its last: reads it, applies a fault, authenticates, authorizes, and answers or streams.
 * `socket` is the connection of a watch over WebSocket.
 */
export async function serve(
  message: IncomingMessage,
  response: ServerResponse,
  { connection, parts, socket }: { connection: number; parts: ServerParts; socket: Duplex | undefined },
): Promise<void> {
  const { clock } = parts;
  const request = await readRequest(message, { connection, kinds: parts.kinds });
  const behaviour = parts.faults.take(request);
  parts.evidence.requestRead(request);
  const fault = behaviour && 'stream' in behaviour ? behaviour.stream : undefined;
  const instead = behaviour && !('stream' in behaviour) ? behaviour : undefined;
  if (instead && !instead.afterCommit) return misbehave(response, instead, { message, clock });
  try {
    const answer = await answerOrStream(request, response, { parts, message, socket, fault });
    if (!answer) return;
    if (instead) return await misbehave(response, instead, { message, clock });
    await sendAnswer(response, presented(answer, request), { message, fault, clock });
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof TextError)) throw error;
    await sendAnswer(response, presented(refusal(error), request), { message, fault, clock });
  }
}

interface Connection {
  readonly message: IncomingMessage;
  /** The connection of a watch over WebSocket. */
  readonly socket: Duplex | undefined;
}

/** Resolves to the answer, or to undefined after the stream of a watch has ended. */
async function answerOrStream(
  request: ApiRequest,
  response: ServerResponse,
  { parts, message, socket, fault }: Connection & { parts: ServerParts; fault: StreamFault | undefined },
): Promise<Answer | undefined> {
  const sender = authenticate(request.headers.authorization, parts.tokens);
  const caller = actingIdentity(parts.store, sender, request);
  authorizeRequest(parts.store, caller, request);
  if (isForAway(request, parts.kinds)) return plain('service unavailable\n', 503);
  if (isForLog(request)) {
    const open = (): Body => openStream(response, fault, parts.clock, 'text/plain');
    await serveLog(request, parts, { open, gone: goneOf(response) });
    return undefined;
  }
  if (request.verb !== 'watch') return answerRequest(request, caller, parts);
  if (!socket) await streamWatch(request, response, { parts, open: () => openStream(response, fault, parts.clock) });
  else if (!isAcceptable(message)) return plain('', 403);
  else await streamWatch(request, response, { parts, open: () => openWebsocket(message, socket) });
  return undefined;
}

/** A signal that aborts when the client has gone. */
function goneOf(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}

async function streamWatch(
  request: ApiRequest,
  response: ServerResponse,
  { parts, open }: { parts: ServerParts; open: () => Body },
): Promise<void> {
  const { store, clock, evidence } = parts;
  const { kind, namespace } = request.target!;
  const form = negotiateForm(request.headers.accept, { kind, clock });
  const options = parseListOptions(request, request.target!);
  checkWatchOptions(options, parts.watchList);
  const body = open();
  const gone = goneOf(response);
  const closed = evidence.watchOpened(kind.name);
  try {
    const watch = { collection: store.collection(kind.storedAs), namespace, options, form };
    for await (const line of watchLines(watch, parts, gone)) {
      if (gone.aborted) break;
      if (!body.write(line)) await body.drained();
    }
    body.end();
  } finally {
    closed();
  }
}

function refusal(error: ApiError | TextError): Answer {
  if (error instanceof TextError) return plain(error.message, error.code);
  const { status } = error;
  const seconds = status.details?.retryAfterSeconds;
  const headers = seconds === undefined ? {} : { 'retry-after': String(seconds) };
  return { code: status.code, text: `${JSON.stringify(status)}\n`, headers };
}
