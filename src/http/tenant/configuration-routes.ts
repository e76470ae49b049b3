import { wholeBody } from '../answer/answer.ts';
import { toJsonBytes, toRepresentation } from '../answer/document.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import type { Handler, Route } from '../exchange.ts';
import type { TenantRouteParts } from './served-tenant.ts';

/**
 * What 3.4's console reads about the server before a sign-in (CO-01, CO-02), and the kinds of graphics processors, of which we know none
 * (CO-03).
 */
export function configurationRoutes({ platform, writer, configuration }: TenantRouteParts): Route[] {
  const root = `/kapis/config.${platform}.io/v1alpha2/configs`;
  const { features, ...lifetimes } = configuration;
  const shown = (path: string, access: Route['access'], document: unknown): Route => {
    const representation = toRepresentation(toJsonBytes(document));
    const cacheControl = access === 'public' ? 'no-cache' : 'private, no-cache';
    const headers = { contentType: 'application/json', cacheControl };
    const handler: Handler = (exchange) => sendRepresentation(writer, exchange, { ...headers, representation });
    const common = { admission: 'other', produces: 'json' } as const;
    return { ...common, template: `${root}/${path}`, access, methods: { GET: handler, HEAD: handler } };
  };
  return [
    shown('configz', 'public', features),
    shown('oauth', 'public', lifetimes),
    shown('gpu/kinds', 'signed-in', []),
    monitoringRoute({ platform, writer }),
  ];
}

const NO_RESULTS = toJsonBytes({ results: [] });

/** Every query for metrics of the cluster, which has no results: the console shows no curves then, and no error (CO-12). */
function monitoringRoute({ platform, writer }: Pick<TenantRouteParts, 'platform' | 'writer'>): Route {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'private, no-cache' };
  const handler: Handler = (exchange) => writer.send(exchange, 200, headers, wholeBody(NO_RESULTS));
  return {
    template: `/kapis/monitoring.${platform}.io/v1alpha3/*`,
    access: 'signed-in',
    admission: 'other',
    produces: 'json',
    methods: { GET: handler, HEAD: handler },
  };
}
