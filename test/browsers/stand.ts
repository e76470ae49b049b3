import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as openid from 'openid-client';
import { systemClock } from '../../src/runtime/clock.ts';
import { passwordOf, startCluster, startService } from '../integration/service/stand.ts';
import { startWriteStand, UNINITIALIZED } from '../support/accounts/write-stand.ts';
import { atEnd } from '../support/at-end.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { quickBcrypt } from '../support/passwords.ts';
import { selfSigned } from '../support/self-signed.ts';
import { startTlsFront } from '../support/tls-front.ts';

export const ADA = { username: 'ada', password: passwordOf('ada') };
export const JOE = { username: 'joe', password: passwordOf('joe') };
/** A person whose password somebody else has chosen. */
export const IVY = { username: 'ivy', password: 'The-first-one-1' };

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
  /** Where Gatehouse listens without TLS. */
  readonly origin: string;
  readonly application: Application;
}

interface MovableStand extends Stand {
  /** Moves Gatehouse's wall clock. */
  moveClock(ms: number): void;
}

/** A native application, which the system starts when a browser comes to an address with its scheme (RFC 8252 7.1). */
export const NATIVE_CALLBACK = 'com.example.app:/callback';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** Where nobody is: for a page that names the host. */
export const GRAFANA_CALLBACK = 'https://grafana.example.com/login/generic_oauth';

/** That of the clients that can keep one. */
const SECRET = 'made-up-secret';
const PUBLIC = ['phone', 'laptop', 'television'];

/** `grafana` asks people whether it may have their data. */
const clientsOf = ({ origin, callback }: Application) => [
  { name: 'dashboard', secret: SECRET, redirectURIs: [callback], postLogoutRedirectURIs: [`${origin}/bye`] },
  { name: 'console', secret: SECRET, redirectURIs: [callback] },
  { name: 'grafana', secret: SECRET, redirectURIs: [callback, GRAFANA_CALLBACK], grantMethod: 'prompt' },
  { name: 'phone', public: true, redirectURIs: [NATIVE_CALLBACK] },
  { name: 'television', public: true, grantTypes: [DEVICE_GRANT, 'refresh_token'] },
  { name: 'laptop', public: true, redirectURIs: [callback] },
];

/** Where Gatehouse is reached. */
export interface Place {
  /** Default: `http`. */
  readonly scheme?: 'http' | 'https';
  /** Default: `127.0.0.1`. */
  readonly host?: string;
}

/** Gatehouse with Ada and Joe, at the address that it issues tokens for, and an application. */
export async function startStand({ scheme = 'http', host = '127.0.0.1' }: Place = {}): Promise<MovableStand> {
  const application = await startApplication();
  const [port = 0] = await freePorts(1);
  const outerPort = scheme === 'https' ? await startFront(port) : port;
  const issuer = `${scheme}://${host}:${outerPort}/oauth`;
  const oauthOptions = { issuer, clients: clientsOf(application) };
  let aheadMs = 0;
  await startService(await startCluster(), {
    config: { server: { port }, authentication: { oauthOptions } },
    clock: { ...systemClock, now: () => systemClock.now() + aheadMs },
  });
  const moveClock = (ms: number): void => {
    aheadMs += ms;
  };
  return { issuer, origin: `http://127.0.0.1:${port}`, application, moveClock };
}

/** Gatehouse with users as objects, among them Ivy. */
export async function startAccountStand(): Promise<Stand> {
  const application = await startApplication();
  const [port = 0] = await freePorts(1);
  const origin = `http://127.0.0.1:${port}`;
  const issuer = `${origin}/oauth`;
  const clients = [{ name: 'gatehouse', secret: 'gatehouse' }, ...clientsOf(application)];
  const config = { server: { port }, authentication: { oauthOptions: { issuer, clients } } };
  const stand = await startWriteStand({ bcrypt: quickBcrypt, config });
  atEnd(() => stand.stop());
  await stand.made(IVY.username, { spec: { password: IVY.password }, annotations: { [UNINITIALIZED]: 'true' } });
  return { issuer, origin, application };
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
  } else if (pathname === '/bye') {
    response.end('<!doctype html><title>Application</title><h1>Goodbye</h1>');
  } else {
    response.writeHead(404).end(); // browsers ask for an icon
  }
}

/** A request of a client as openid-client makes it. */
export interface SignInRequest {
  readonly url: URL;
  readonly state: string;
  /** Exchanges what the browser brought to the application last for an ID token. */
  redeem(): Promise<{ readonly user: string | undefined; readonly idToken: string | undefined }>;
}

function configurationOf({ issuer, origin }: Stand, client: string): openid.Configuration {
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    // These are reached without TLS, also if the issuer has it.
    token_endpoint: `${origin}/oauth/token`,
    device_authorization_endpoint: `${origin}/oauth/device_authorization`,
  };
  const config = new openid.Configuration(
    metadata,
    client,
    undefined,
    PUBLIC.includes(client) ? openid.None() : openid.ClientSecretPost(SECRET),
  );
  openid.allowInsecureRequests(config);
  return config;
}

export async function newRequest(
  stand: Stand,
  { client = 'dashboard', redirect = stand.application.callback, ...more }: Readonly<Record<string, string>> = {},
): Promise<SignInRequest> {
  const config = configurationOf(stand, client);
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const url = openid.buildAuthorizationUrl(config, {
    ...{ redirect_uri: redirect, scope: 'openid', state, ...more },
    ...{ code_challenge: await openid.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
  });
  const redeem: SignInRequest['redeem'] = async () => {
    const brought = new URL(`${redirect}?${stand.application.arrivals.at(-1)}`);
    const checks = { pkceCodeVerifier: verifier, expectedState: state };
    const tokens = await openid.authorizationCodeGrant(config, brought, checks);
    return { user: tokens.claims()?.sub, idToken: tokens.id_token };
  };
  return { url, state, redeem };
}

/** A device without a browser that shows a code (RFC 8628). */
export interface Device {
  readonly userCode: string;
  /** The address with the code in it. */
  readonly address: string;
  /** Asks as often as it may until somebody has decided. Returns the user, or rejects with the error of the token endpoint. */
  poll(): Promise<string | undefined>;
}

export async function newDevice(stand: Stand): Promise<Device> {
  const config = configurationOf(stand, 'television');
  const begun = await openid.initiateDeviceAuthorization(config, { scope: 'openid groups' });
  const poll = async (): Promise<string | undefined> =>
    (await openid.pollDeviceAuthorizationGrant(config, begun)).claims()?.sub;
  return { userCode: begun.user_code, address: begun.verification_uri_complete ?? '', poll };
}
