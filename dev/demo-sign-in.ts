import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Config } from '../src/config/config.ts';
import type { Addresses } from '../src/service/ports.ts';

/** How this machine reaches the demo. */
export interface DemoPlace {
  readonly origin: string;
  readonly metricsOrigin: string;
  /** The command and options that begin each printed line. */
  readonly curl: string;
}

/** Addresses that stand for every interface, loopback among them. */
const EVERY_INTERFACE: readonly string[] = ['0.0.0.0', '::', ''];

/** Uses the address and the certificate of the configuration, which may come from the user's file. */
export function placeOf({ address = '', tls }: Config['server'], { port, metricsPort }: Addresses): DemoPlace {
  const host = EVERY_INTERFACE.includes(address) ? '127.0.0.1' : address.includes(':') ? `[${address}]` : address;
  const scheme = tls ? 'https' : 'http';
  return {
    origin: `${scheme}://${host}:${port}`,
    metricsOrigin: `${scheme}://${host}:${metricsPort}`,
    // The certificate usually names another host, and its issuer need not be trusted here.
    curl: tls ? 'curl -sk' : 'curl -s',
  };
}

/** Sends the form of a sign-in. Resolves with the access token, or with a sentence that says why there is none. */
export async function signInAt(
  { origin }: Pick<DemoPlace, 'origin'>,
  form: URLSearchParams,
): Promise<{ readonly token: string } | { readonly fault: string }> {
  try {
    const { body } = await post(`${origin}/oauth/token`, form.toString(), FORM);
    const token = (JSON.parse(body) as { access_token?: unknown }).access_token;
    return typeof token === 'string' ? { token } : { fault: `the answer to the sign-in is ${body}` };
  } catch (error) {
    return { fault: `the sign-in failed: ${(error as Error).message}` };
  }
}

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

/** `fetch` refuses certificates of unknown authorities. This request need not check the certificate: the server is in this process. */
export async function post(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly body: string }> {
  const request = url.startsWith('https:')
    ? requestHttps(url, { method: 'POST', headers, rejectUnauthorized: false, agent: false })
    : requestHttp(url, { method: 'POST', headers, agent: false });
  request.end(body);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, body: await text(answer) };
}
