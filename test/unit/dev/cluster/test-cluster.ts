import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { onTestFinished } from 'vitest';
import {
  type SimulatedCluster,
  type SimulatedClusterOptions,
  startSimulatedCluster,
} from '../../../../dev/cluster/cluster.ts';
import { freePorts } from '../../../support/control-plane/free-ports.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies of any shape are looked into and compared
type Json = any;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Json;
  /** How the message ended: complete, or with this error code. */
  readonly end: string;
}

interface Call {
  readonly method?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** An answer while it comes. */
interface Streamed {
  readonly status: number;
  /** Resolves when the text so far fulfils the condition; what does not come ends by the test's time limit. */
  readonly until: (condition: (text: string) => boolean) => Promise<string>;
  /** Resolves with how the message ended. */
  readonly ended: Promise<string>;
  readonly leave: () => void;
}

export interface TestCluster extends SimulatedCluster {
  readonly call: (path: string, call?: Call) => Promise<Answer>;
  readonly stream: (path: string) => Promise<Streamed>;
}

/** A simulated cluster that ends with the test, and a client that shows every byte. */
export async function startTestCluster(options: SimulatedClusterOptions = {}): Promise<TestCluster> {
  const [port = 0] = await freePorts(1); // a restart comes back to it
  const cluster = await startSimulatedCluster({ port, ...options });
  const agent = new Agent({ keepAlive: true });
  onTestFinished(async () => {
    agent.destroy();
    await cluster.stop();
  });
  const open = (path: string, call: Call = {}): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { method = 'GET', token = cluster.adminToken, body } = call;
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...call.headers };
      const sent = request(`${cluster.url}${path}`, { agent, method, headers });
      sent.once('error', reject).once('response', resolve);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const call = async (path: string, options?: Call): Promise<Answer> => {
    const message = await open(path, options);
    const collected = collect(message);
    const end = await collected.ended;
    const text = collected.text();
    return { status: message.statusCode ?? 0, headers: message.headers, text, body: parsed(text), end };
  };
  const stream = async (path: string): Promise<Streamed> => {
    const message = await open(path);
    const { ended, until } = collect(message);
    return { status: message.statusCode ?? 0, until, ended, leave: () => message.destroy() };
  };
  return { ...cluster, call, stream };
}

function collect(message: IncomingMessage) {
  let text = '';
  let check: () => void = () => undefined;
  message.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    check();
  });
  const ended = new Promise<string>((resolve) => {
    message.once('end', () => resolve('complete'));
    message.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
  const until = (condition: (text: string) => boolean): Promise<string> =>
    new Promise((resolve) => {
      check = () => {
        if (condition(text)) resolve(text);
      };
      check();
    });
  return { ended, until, text: () => text };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The events in the text of a watch. */
export const eventsIn = (text: string): Json[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

export const lineCount = (text: string): number => text.split('\n').length - 1;

export const WATCH_NODES = '/api/v1/nodes?watch=true&resourceVersion=';
