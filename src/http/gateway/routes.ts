import { type Exchange, type Handler, METHODS, type Route, type Step } from '../exchange.ts';
import { readSubprotocols } from './upgrade-request.ts';

/** The cluster's own paths: everything below `/api` and `/apis`, and the OpenAPI descriptions that kubectl reads. */
const TEMPLATES = ['/api/*', '/apis/*', '/openapi/v2', '/openapi/v3/*'];

/** The routes of the cluster's own paths. The calls of every signed-in user are passed on, and the cluster authorizes them. */
export function gatewayRoutes(serve: Handler): Route[] {
  const methods = Object.fromEntries(METHODS.map((method) => [method, serve]));
  return TEMPLATES.map((template) => ({
    template,
    access: 'signed-in',
    admission: 'gateway',
    produces: 'any',
    before: takeBearer,
    methods,
  }));
}

/** Takes the bearer token of a WebSocket from its subprotocols (docs/contract/gateway.md, section 6). */
const takeBearer: Step = (exchange: Exchange) => {
  if (!exchange.upgrade) return 'next';
  const { bearer } = readSubprotocols(exchange.request);
  if (bearer !== undefined) exchange.presents(`Bearer ${bearer}`);
  return 'next';
};
