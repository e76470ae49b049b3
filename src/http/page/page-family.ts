import type { PageSessions } from '../../oauth/authorize/page-sessions.ts';
import { StatusError } from '../../status-error.ts';
import { toJsonBytes, toRepresentation } from '../answer/document.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import type { Handler, Route } from '../exchange.ts';
import type { RouteFamily } from '../family.ts';
import { ASSETS, INDEX, type PageFiles } from './page-files.ts';
import { PAGE_HEADERS } from './page-headers.ts';
import { pageHeader } from './page-request.ts';
import { sendFile, toServedFile } from './served-file.ts';
import { sessionRoute } from './session-route.ts';

/** What this server offers, so that the page shows no view that must fail. */
interface PageFeatures {
  readonly accounts: boolean;
  /** The search of audit records. */
  readonly audit: boolean;
  /** The search of events, in a store or of those that the cluster still has. */
  readonly events: boolean;
  readonly gateway: boolean;
  readonly kinds: boolean;
  readonly logs: boolean;
  readonly nodeUsage: boolean;
  /** Lists of the gateway over the namespaces in which the caller has the right to them. */
  readonly permittedLists: boolean;
}

interface PageFamilyParts {
  readonly files: PageFiles;
  /** The version of the running release. */
  readonly version: string;
  readonly features: PageFeatures;
  readonly issuer: string;
  readonly sessions: Pick<PageSessions, 'renew' | 'signOut'>;
}

/** A file whose name changes with its content is never asked for again. */
const IMMUTABLE = 'public, max-age=31536000, immutable';
/** Kept, and asked for each time, so that the page after an upgrade is the new one. */
const REVALIDATED = 'no-cache';

/** The page, from memory. Anybody gets it: nothing of a person or of the cluster is in it. */
export const pageFamily =
  ({ files, version, features, issuer, sessions }: PageFamilyParts): RouteFamily =>
  ({ platform, random, writer }) => {
    const index = toServedFile(INDEX, files.get(INDEX) ?? new Uint8Array(), REVALIDATED);
    const view: Handler = (exchange) => sendFile(writer, exchange, index);
    const settings = toRepresentation(toJsonBytes({ platform, version, header: pageHeader(platform), features }));
    const sendSettings: Handler = (exchange) =>
      sendRepresentation(writer, exchange, {
        ...{ contentType: 'application/json', cacheControl: REVALIDATED },
        ...{ representation: settings, further: PAGE_HEADERS },
      });
    const served = new Map(
      [...files]
        .filter(([name]) => name.startsWith(ASSETS))
        .map(([name, content]) => [name.slice(ASSETS.length), toServedFile(name, content, IMMUTABLE)]),
    );
    const asset: Handler = (exchange) => {
      const file = served.get(exchange.parameters[0] ?? '');
      if (!file) throw unknownAsset();
      return sendFile(writer, exchange, file);
    };
    return {
      routes: [
        route('/', view),
        { ...route('/ui/settings.json', sendSettings), produces: 'json' },
        sessionRoute({ platform, issuer, sessions, random, writer }),
        route('/ui/*', view),
        route('/assets/{file}', asset),
      ],
    };
  };

const route = (template: string, handler: Handler): Route => ({
  ...{ template, access: 'public', admission: 'other', produces: 'any', crossOrigin: 'never' },
  methods: { GET: handler, HEAD: handler },
});

/** A tab from before an upgrade asks for files that are gone. */
const unknownAsset = (): StatusError =>
  new StatusError('NotFound', {
    message: 'this version of the page has no such file; load the page again',
    headers: PAGE_HEADERS,
  });
