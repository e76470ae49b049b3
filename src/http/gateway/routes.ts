import type { Exchange, Handler, Method, Route, Step } from '../exchange.ts';
import { readSubprotocols } from './upgrade-request.ts';

/** Everything below `/api` and `/apis` is the cluster's, and the descriptions of it that kubectl reads. */
const TEMPLATES = ['/api/*', '/apis/*', '/openapi/v2', '/openapi/v3/*'];

const METHODS: readonly Method[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The paths of the cluster: every signed-in caller is passed on, and the cluster decides what they may do. */
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

/** Takes the bearer of a websocket from its subprotocols (docs/contract/gateway.md, section 6). */
const takeBearer: Step = (exchange: Exchange) => {
  if (!exchange.upgrade) return 'next';
  const { bearer } = readSubprotocols(exchange.request);
  if (bearer !== undefined) exchange.presents(`Bearer ${bearer}`);
  return 'next';
};
