import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as openid from 'openid-client';
import { systemClock } from '../../src/runtime/clock.ts';
import { passwordOf, type Service, startCluster, startService } from '../integration/service/stand.ts';
import { atEnd } from '../support/at-end.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { selfSigned } from '../support/self-signed.ts';
import { startTlsFront } from '../support/tls-front.ts';

export const ADA = { username: 'ada', password: passwordOf('ada') };

/** The application that people sign in to: it listens on loopback and keeps what browsers bring. */
interface Application {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  readonly callback: string;
  /** What browsers brought to the callback: the parameters of the query, or of a form. */
  readonly arrivals: readonly URLSearchParams[];
  /** Serves this page at `/page`. */
  page: string;
}

export interface Stand {
  readonly issuer: string;
  readonly service: Service;
  readonly application: Application;
  /** Moves Gatehouse's wall clock. */
  moveClock(ms: number): void;
}

/** A native application, which the system starts when a browser comes to an address with its scheme (RFC 8252 7.1). */
export const NATIVE_CALLBACK = 'com.example.app:/callback';

const clientsOf = ({ callback }: Application) => [
  { name: 'dashboard', public: true, redirectURIs: [callback] },
  { name: 'phone', public: true, redirectURIs: [NATIVE_CALLBACK] },
];

/** Where Gatehouse is reached. */
export interface Place {
  /** Default: `http`. */
  readonly scheme?: 'http' | 'https';
  /** Default: `127.0.0.1`. */
  readonly host?: string;
}

/** Gatehouse with Ada and Joe, at the address that it issues tokens for, and an application. */
export async function startStand({ scheme = 'http', host = '127.0.0.1' }: Place = {}): Promise<Stand> {
  const application = await startApplication();
  const [port = 0] = await freePorts(1);
  const outerPort = scheme === 'https' ? await startFront(port) : port;
  const issuer = `${scheme}://${host}:${outerPort}/oauth`;
  const oauthOptions = { issuer, clients: clientsOf(application) };
  let aheadMs = 0;
  const service = await startService(await startCluster(), {
    config: { server: { port }, authentication: { oauthOptions } },
    clock: { ...systemClock, now: () => systemClock.now() + aheadMs },
  });
  const moveClock = (ms: number): void => {
    aheadMs += ms;
  };
  return { issuer, service, application, moveClock };
}

/** Adds TLS to this port, and returns the port with it. */
async function startFront(target: number): Promise<number> {
  const front = await startTlsFront(target, selfSigned('gatehouse.test'));
  atEnd(() => front.stop());
  return front.port;
}

async function startApplication(): Promise<Application> {
  const arrivals: URLSearchParams[] = [];
  const pages = { page: '' };
  const server = createServer((request, response) => void answer(request, response, arrivals, pages));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => server.close().closeAllConnections());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(pages, { origin, callback: `${origin}/callback`, arrivals });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  arrivals: URLSearchParams[],
  { page }: { readonly page: string },
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://application');
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  if (pathname === '/callback') {
    const form =
      request.method === 'POST' ? new URLSearchParams(Buffer.concat(await request.toArray()).toString()) : undefined;
    arrivals.push(form ?? searchParams);
    response.end('<!doctype html><title>Application</title><h1>Welcome</h1>');
  } else if (pathname === '/page') {
    response.end(page);
  } else {
    response.writeHead(404).end(); // browsers ask for an icon
  }
}

/** A request of a client as openid-client makes it. */
export interface SignInRequest {
  readonly url: URL;
  readonly state: string;
  /** Exchanges what the browser brought to the application for tokens, and returns the user of the ID token. */
  redeem(arrival: URLSearchParams): Promise<string | undefined>;
}

export async function newRequest(
  { issuer, service, application: { callback } }: Stand,
  { client = 'dashboard', redirect = callback, ...more }: Readonly<Record<string, string>> = {},
): Promise<SignInRequest> {
  const { origin } = service.gatehouse;
  const config = new openid.Configuration(
    {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${origin}/oauth/token`, // without TLS, also for an issuer that has it
    },
    client,
    undefined,
    openid.None(),
  );
  openid.allowInsecureRequests(config);
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const url = openid.buildAuthorizationUrl(config, {
    ...{ redirect_uri: redirect, scope: 'openid', state, ...more },
    ...{ code_challenge: await openid.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
  });
  const redeem = async (arrival: URLSearchParams): Promise<string | undefined> => {
    const brought = new URL(`${redirect}?${arrival}`);
    const tokens = await openid.authorizationCodeGrant(config, brought, {
      pkceCodeVerifier: verifier,
      expectedState: state,
    });
    return tokens.claims()?.sub;
  };
  return { url, state, redeem };
}
