import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Answer } from './answer.ts';
import { type Behaviour, type StreamFault, scriptedStatus } from './behaviour.ts';
import { type Body, plainBody } from './body.ts';
import { cutConnection, faultyBody, resetConnection } from './faulty-body.ts';

const compress = promisify(gzip);

/** A real server compresses from 128 KiB on, at level 1, and never a watch. */
const GZIP_FROM_BYTES = 128 * 1024;

const COMMON_HEADERS = { 'cache-control': 'no-cache, private' };

/** Writes a complete answer, with `fault` in its body if there is one. */
export async function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  { message, fault, clock }: { message: IncomingMessage; fault: StreamFault | undefined; clock: Clock },
): Promise<void> {
  const text = Buffer.from(answer.text);
  const packed = text.length >= GZIP_FROM_BYTES && /\bgzip\b/.test(String(message.headers['accept-encoding'] ?? ''));
  const bytes = packed ? await compress(text, { level: 1 }) : text;
  response.writeHead(answer.code, {
    ...COMMON_HEADERS,
    'content-type': answer.contentType ?? 'application/json',
    ...(packed ? { 'content-encoding': 'gzip', vary: 'Accept-Encoding' } : {}),
    // Without a length, a body that a fault ends early is still a complete HTTP message.
    ...(fault ? {} : { 'content-length': bytes.length }),
    ...answer.headers,
  });
  if (!fault) {
    response.end(message.method === 'HEAD' ? undefined : bytes);
    return;
  }
  response.flushHeaders();
  const body = faultyBody(response, fault, clock);
  body.write(bytes);
  body.end();
}

/** Starts a stream: headers now, then chunks as they come. */
export function openStream(
  response: ServerResponse,
  fault: StreamFault | undefined,
  clock: Clock,
  contentType = 'application/json',
): Body {
  response.writeHead(200, { ...COMMON_HEADERS, 'content-type': contentType });
  response.flushHeaders();
  return fault ? faultyBody(response, fault, clock) : plainBody(response);
}

/** Does what the script says instead of answering. */
export async function misbehave(
  response: ServerResponse,
  behaviour: Exclude<Behaviour, { stream: StreamFault }>,
  context: { message: IncomingMessage; clock: Clock },
): Promise<void> {
  if ('connection' in behaviour) {
    if (behaviour.connection === 'reset') resetConnection(response);
    if (behaviour.connection === 'close') cutConnection(response);
    return;
  }
  const { status: code, retryAfterSeconds } = behaviour;
  const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  const text = `${JSON.stringify(scriptedStatus(behaviour))}\n`;
  await sendAnswer(response, { code, text, headers }, { ...context, fault: undefined });
}
