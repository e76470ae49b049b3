import type { Representation } from '../../nodes/node-lister.ts';
import type { AuthorizationServer, PublicDocument } from '../../oauth/authorization-server.ts';
import { type AnswerWriter, NO_BODY, wholeBody } from '../answer.ts';
import { toJsonBytes, toRepresentation } from '../document.ts';
import type { Exchange } from '../exchange.ts';
import type { HttpLimits } from '../limits.ts';
import type { BodyReader } from '../read-body.ts';
import type { Handler, Route } from '../route-table.ts';
import { sendRepresentation } from '../send-representation.ts';

export interface OAuthRouteParts {
  readonly server: AuthorizationServer;
  readonly limits: HttpLimits;
  readonly bodies: BodyReader;
  readonly writer: AnswerWriter;
}

/** N-57: every answer under /oauth, JWKS and metadata aside. */
const NO_STORE = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', Pragma: 'no-cache' };

/** The documents say themselves how long a copy is good: a new signing key is published long before its use. */
const DOCUMENT = { contentType: 'application/json', cacheControl: 'public, max-age=300' };

const METADATA_PATHS = [
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-authorization-server/oauth', // RFC 8414 3.1: the form for an issuer that ends in /oauth
  '/oauth/.well-known/openid-configuration',
];

/** Everything under /oauth and its metadata. All of it is public: the authorization server asks for its own credentials. */
export function oauthRoutes(parts: OAuthRouteParts): Route[] {
  const common = { access: 'public', admission: 'other', produces: 'json' } as const;
  const keys = documentHandler(() => parts.server.keys(), parts.writer);
  const metadata = documentHandler(() => parts.server.metadata(), parts.writer);
  const logout = logoutHandler(parts);
  return [
    {
      ...common,
      template: '/oauth/token',
      admission: 'sign-in',
      readsForm: true,
      methods: { POST: tokenHandler(parts) },
    },
    { ...common, template: '/oauth/logout', readsForm: true, methods: { GET: logout, POST: logout } },
    { ...common, template: '/oauth/keys', methods: { GET: keys, HEAD: keys } },
    ...METADATA_PATHS.map((template) => ({ ...common, template, methods: { GET: metadata, HEAD: metadata } })),
  ];
}

function tokenHandler({ server, limits, bodies, writer }: OAuthRouteParts): Handler {
  return async (exchange) => {
    const { headers } = exchange.request;
    const contentType = headers['content-type'];
    const { query } = exchange.target;
    server.checkFormHead(contentType, query);
    const body = await bodies.read(exchange, limits.maxFormBytes);
    exchange.admit?.();
    const { authorization } = headers;
    const { source, signal } = exchange;
    const answer = await server.token({ contentType, queryString: query, authorization, body, source, signal });
    writer.send(exchange, 200, NO_STORE, wholeBody(toJsonBytes(answer)));
  };
}

function logoutHandler({ server, limits, bodies, writer }: OAuthRouteParts): Handler {
  return async (exchange) => {
    const { headers } = exchange.request;
    const method = exchange.request.method === 'POST' ? 'POST' : 'GET';
    const body = method === 'POST' ? await bodies.read(exchange, limits.maxFormBytes) : undefined;
    exchange.admit?.();
    const { location } = await server.logout({
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

/** N-25: 303 after a POST, so that nothing is posted again. */
function redirect(writer: AnswerWriter, exchange: Exchange, location: string): void {
  const status = exchange.request.method === 'POST' ? 303 : 302;
  writer.send(exchange, status, { Location: location, 'Cache-Control': 'no-store', Pragma: 'no-cache' }, NO_BODY);
}

/** Serves a document of the authorization server, compressing each version of it once. */
function documentHandler(read: () => PublicDocument, writer: AnswerWriter): Handler {
  let shown: { readonly body: Buffer; readonly representation: Representation } | undefined;
  return (exchange) => {
    const { body, etag } = read();
    if (shown?.body !== body) shown = { body, representation: toRepresentation(body, etag) };
    sendRepresentation(writer, exchange, { ...DOCUMENT, representation: shown.representation });
  };
}
