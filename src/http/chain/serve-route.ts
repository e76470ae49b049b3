import { acceptsJson } from '../answer/accept.ts';
import { gone, methodNotAllowed, notAcceptable, nothingServed, resourceNotFound } from '../answer/refusals.ts';
import type { Exchange, Method, Outcome, Route, Step } from '../exchange.ts';
import { allowOf } from './route-table.ts';

/** Checks the method, then `Accept`, then runs the handler. */
function serve(exchange: Exchange, route: Route): Outcome | Promise<Outcome> {
  const handler = route.methods[exchange.request.method as Method];
  if (!handler) throw methodNotAllowed(allowOf(route));
  if (route.watch && exchange.info?.verb === 'watch') return conclude(route.watch(exchange));
  if (route.produces === 'json' && !acceptsJson(exchange.request.headers.accept)) throw notAcceptable();
  return conclude(handler(exchange));
}

const conclude = (done: void | Promise<void>): Outcome | Promise<Outcome> =>
  done instanceof Promise ? done.then((): Outcome => 'answered') : 'answered';

/**
 * Serves the public paths (docs/contract/http.md, section 2) without a look at the bearer: a stale header must not fail
 * a probe.
 */
export function servePublicPaths(platform: string): Step {
  const notOffered = `config.${platform}.io`;
  return (exchange) => {
    const { route, target } = exchange;
    if (route?.access === 'public') return serve(exchange, route);
    const [first, second] = target.segments;
    if (first === 'oauth') throw resourceNotFound();
    // KubeSphere 3.4 answers this group to everybody, and its clients ask before they sign in.
    if (first === 'kapis' && second === notOffered) throw resourceNotFound();
    return 'next';
  };
}

/** Answers 410 to any signed-in caller on a path that was withdrawn, whatever the method and whatever the rights. */
export const refuseWithdrawnPaths: Step = ({ route, parameters }) => {
  if (route?.gone) throw gone(route.gone(parameters));
  return 'next';
};

/** Serves the route that the caller is allowed to use, or answers 404 when there is none. */
export const serveRoute: Step = (exchange) => {
  if (exchange.route) return serve(exchange, exchange.route);
  throw nothingServed(exchange.info);
};
