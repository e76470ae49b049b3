import { gone } from '../answer/refusals.ts';
import type { Handler, Method, Route } from '../exchange.ts';

/**
 * The log endpoints of older clients, which were removed in release 3.4: any signed-in caller gets a 410 that says what to use
 * instead.
 */
export function withdrawnLogRoutes(platform: string): Route[] {
  const base = `/kapis/logging.${platform}.io/v1alpha2`;
  const search = `this endpoint was removed in release 3.4; use GET /kapis/tenant.${platform}.io/v1alpha2/logs`;
  const settings =
    'this endpoint was removed in release 3.4; log collection is configured in the cluster, not through this server';
  const searchBy =
    (...names: string[]) =>
    (values: readonly string[]): string =>
      `${search}?${names.map((name, index) => `${name}=${encodeURIComponent(values[index] ?? '')}`).join('&')}`;
  const namespace = `${base}/namespaces/{namespace}`;
  return [
    withdrawn(`${base}/workspaces/{workspace}`, ['GET'], () => search),
    withdrawn(namespace, ['GET'], searchBy('namespaces')),
    withdrawn(`${namespace}/workloads/{workload}`, ['GET'], searchBy('namespaces', 'workloads')),
    withdrawn(`${namespace}/pods/{pod}`, ['GET'], searchBy('namespaces', 'pods')),
    withdrawn(`${base}/fluentbit/outputs`, ['GET', 'POST'], () => settings),
    withdrawn(`${base}/fluentbit/outputs/{output}`, ['PUT', 'DELETE'], () => settings),
  ];
}

function withdrawn(template: string, methods: readonly Method[], message: NonNullable<Route['gone']>): Route {
  const refuse: Handler = ({ parameters }) => {
    throw gone(message(parameters));
  };
  return {
    template,
    access: 'signed-in',
    admission: 'other',
    produces: 'any',
    methods: Object.fromEntries(methods.map((method) => [method, refuse])),
    gone: message,
  };
}
