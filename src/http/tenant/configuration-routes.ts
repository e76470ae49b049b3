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
  ];
}
