import type {
  AuthorizationServer,
  FormEndpointName,
  FormRequest,
  PublicDocument,
} from '../../oauth/authorization-server.ts';
import { LOGOUT_PATH } from '../../oauth/authorize/end-session.ts';
import type { Representation } from '../../resources/bytes/representation.ts';
import { type AnswerWriter, NO_BODY, UNCACHED, wholeBody } from '../answer/answer.ts';
import { toJsonBytes, toRepresentation } from '../answer/document.ts';
import type { BodyReader } from '../answer/read-body.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import type { Exchange, Handler, Route } from '../exchange.ts';
import type { RouteFamily } from '../family.ts';
import type { HttpLimits } from '../limits/http-limits.ts';
import { createRefusalThrottle, type RefusalThrottle, throttleRefusals } from '../limits/refusal-throttle.ts';
import { originOf } from '../request-origin.ts';
import { isForBrowser } from '../sign-in/browser-demands.ts';
import { createSignInRoutes, type SignInRoutes } from '../sign-in/sign-in-routes.ts';

interface OAuthRouteParts {
  readonly server: AuthorizationServer;
  readonly limits: HttpLimits;
  readonly bodies: BodyReader;
  readonly writer: AnswerWriter;
  readonly throttle: RefusalThrottle;
  /** Absent if nobody signs in by browser. */
  readonly forBrowsers: SignInRoutes | undefined;
}

/** The headers of every answer under /oauth except JWKS and metadata (N-57). */
const NO_STORE = { 'Content-Type': 'application/json', ...UNCACHED };

/** The documents may be cached for five minutes, because a new signing key is published long before it is used. */
const DOCUMENT = { contentType: 'application/json', cacheControl: 'public, max-age=300' };

const METADATA_PATHS = [
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-authorization-server/oauth', // RFC 8414 3.1: the form for an issuer that ends in /oauth
  '/oauth/.well-known/openid-configuration',
];

/**
 * The routes under /oauth and their metadata. All of them are public to the chain, because the authorization server checks its own
 * kinds of credentials.
 */
function oauthRoutes(parts: OAuthRouteParts): Route[] {
  const common = { access: 'public', admission: 'other', produces: 'json' } as const;
  const keys = documentHandler(() => parts.server.keys(), parts.writer);
  const metadata = documentHandler(() => parts.server.metadata(), parts.writer);
  const { token, revoke, introspect } = formHandlers(parts);
  const { throttle } = parts;
  const userinfo = userinfoHandler(parts);
  const logout = throttleRefusals(throttle, logoutOrEndSession(parts));
  const { mayRead } = parts.server;
  const shared = { ...common, ...(mayRead ? { crossOrigin: mayRead } : {}) } as const;
  const form = { readsForm: true } as const;
  const signIn = { ...shared, ...form, admission: 'sign-in' } as const;
  return [
    { ...signIn, template: '/oauth/token', methods: { POST: throttleRefusals(throttle, token) } },
    { ...shared, template: '/oauth/userinfo', methods: { GET: userinfo, HEAD: userinfo, POST: userinfo } },
    { ...shared, ...form, template: '/oauth/revoke', methods: { POST: throttleRefusals(throttle, revoke) } },
    { ...common, ...form, template: '/oauth/introspect', methods: { POST: throttleRefusals(throttle, introspect) } },
    ...deviceRoutes(parts, { ...common, ...form }),
    { ...common, ...form, ...logoutProduces(parts), template: LOGOUT_PATH, methods: { GET: logout, POST: logout } },
    { ...shared, template: '/oauth/keys', methods: { GET: keys, HEAD: keys } },
    ...METADATA_PATHS.map((template) => ({ ...shared, template, methods: { GET: metadata, HEAD: metadata } })),
  ];
}

/** Sign-in, tokens, sessions and their metadata. */
export const oauthFamily =
  (server: AuthorizationServer, issuer: string): RouteFamily =>
  (tools) => {
    const throttle = createRefusalThrottle(tools.clock);
    const { browser: endpoints, devices } = server;
    const forBrowsers = endpoints && createSignInRoutes({ ...tools, throttle, issuer, endpoints, devices });
    return { routes: [...oauthRoutes({ ...tools, throttle, server, forBrowsers }), ...(forBrowsers?.routes ?? [])] };
  };

/** Reads the form of a program. */
const formReader =
  ({ server, limits, bodies }: OAuthRouteParts) =>
  async (exchange: Exchange, endpoint: FormEndpointName): Promise<FormRequest> => {
    const { 'content-type': contentType, 'user-agent': userAgent, authorization } = exchange.request.headers;
    server.checkFormHead(endpoint, contentType, exchange.target.query);
    const body = await bodies.read(exchange, limits.maxFormBytes);
    exchange.admit();
    const { address, signal } = exchange;
    return { ...originOf(exchange), authorization, body, signal, address, userAgent };
  };

function formHandlers(parts: OAuthRouteParts): Record<Exclude<FormEndpointName, 'device_authorization'>, Handler> {
  const { server, writer } = parts;
  const read = formReader(parts);
  const sendJson = (exchange: Exchange, answer: object): void =>
    writer.send(exchange, 200, NO_STORE, wholeBody(toJsonBytes(answer)));
  return {
    token: async (exchange) => sendJson(exchange, await server.token(await read(exchange, 'token'))),
    introspect: async (exchange) => sendJson(exchange, await server.introspect(await read(exchange, 'introspect'))),
    revoke: async (exchange) => {
      await server.revoke(await read(exchange, 'revoke'));
      writer.send(exchange, 200, UNCACHED, NO_BODY);
    },
  };
}

/** The device authorization endpoint, if any client has the device grant. */
function deviceRoutes(parts: OAuthRouteParts, common: Omit<Route, 'template' | 'methods'>): Route[] {
  const { server, writer, throttle } = parts;
  const { devices } = server;
  if (!devices) return [];
  const read = formReader(parts);
  const issue: Handler = async (exchange) => {
    const issued = await devices.authorizeDevice(await read(exchange, 'device_authorization'));
    writer.send(exchange, 200, NO_STORE, wholeBody(toJsonBytes(issued)));
  };
  return [{ ...common, template: '/oauth/device_authorization', methods: { POST: throttleRefusals(throttle, issue) } }];
}

/** Does not read the form, because a token in it is not accepted (N-30). */
function userinfoHandler({ server, writer }: OAuthRouteParts): Handler {
  return (exchange) => {
    const userinfo = server.userinfo(exchange.request.headers.authorization, originOf(exchange).actorKnown);
    writer.send(exchange, 200, NO_STORE, wholeBody(toJsonBytes(userinfo)));
  };
}

const logoutProduces = ({ forBrowsers }: OAuthRouteParts) => ({ produces: forBrowsers ? 'any' : 'json' }) as const;

/** A person's browser gets pages and is signed out itself; a program gets JSON and ends the session of its bearer (T-31). */
function logoutOrEndSession(parts: OAuthRouteParts): Handler {
  const logout = logoutHandler(parts);
  const { forBrowsers } = parts;
  if (!forBrowsers) return logout;
  return (exchange) => (isForBrowser(exchange.request) ? forBrowsers.endSession : logout)(exchange);
}

function logoutHandler({ server, limits, bodies, writer }: OAuthRouteParts): Handler {
  return async (exchange) => {
    const { headers } = exchange.request;
    const method = exchange.request.method === 'POST' ? 'POST' : 'GET';
    const body = method === 'POST' ? await bodies.read(exchange, limits.maxFormBytes) : undefined;
    exchange.admit();
    const { location } = await server.logout({
      ...originOf(exchange),
      method,
      queryString: exchange.target.query,
      authorization: headers.authorization,
      ...(body?.length ? { form: { contentType: headers['content-type'], body } } : {}),
    });
    if (location === undefined) {
      return writer.send(exchange, 200, NO_STORE, wholeBody(toJsonBytes({ message: 'success' })));
    }
    redirect(writer, exchange, location);
  };
}

/** Redirects with 303 after a POST, so that the browser does not repeat the POST (N-25). */
function redirect(writer: AnswerWriter, exchange: Exchange, location: string): void {
  const status = exchange.request.method === 'POST' ? 303 : 302;
  writer.send(exchange, status, { Location: location, ...UNCACHED }, NO_BODY);
}

/** Serves a document of the authorization server; each version of it is compressed once. */
function documentHandler(read: () => PublicDocument, writer: AnswerWriter): Handler {
  let shown: { readonly body: Buffer; readonly representation: Representation } | undefined;
  return (exchange) => {
    const { body, etag } = read();
    if (shown?.body !== body) shown = { body, representation: toRepresentation(body, etag) };
    return sendRepresentation(writer, exchange, { ...DOCUMENT, representation: shown.representation });
  };
}
