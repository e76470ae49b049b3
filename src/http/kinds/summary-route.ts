import type { Representation } from '../../resources/bytes/representation.ts';
import type { Age } from '../../resources/cache.ts';
import type { Kind } from '../../resources/entries/kind.ts';
import { CLIENT_PARAMETERS, type ClientSetting } from '../../resources/query/client-parameters.ts';
import { derived } from '../../runtime/derived.ts';
import { type ParameterReaders, readParameters } from '../../runtime/text/parameters.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import type { Handler, Route } from '../exchange.ts';
import type { RouteTools } from '../family.ts';
import type { RequestInfo } from '../request-info.ts';
import { allowedMs, LIST_HEADERS } from '../routes/lists.ts';

/** A short answer about the whole list of a kind. */
export interface ServedSummary {
  /** Throws a 503 `StatusError` as the list does. A promise only if the answer takes long to make. */
  read(): Representation | Promise<Representation>;
}

export interface SummaryRouteParts extends Pick<RouteTools, 'writer' | 'deadline'> {
  readonly kind: Kind;
  readonly age: Age;
  readonly summary: ServedSummary;
}

const PARAMETERS: ParameterReaders<ClientSetting> = new Map(CLIENT_PARAMETERS);

/**
 * The route of the summary of a kind, beside its list, such as `/nodesummary`. It needs the right to the list and no other, because it
 * tells nothing that the list does not: the request becomes one for the kind (NT-03).
 */
export function summaryRoute({ kind, age, summary, writer, deadline }: SummaryRouteParts): Route {
  const ofKind = derived((info: RequestInfo): RequestInfo => ({ ...info, resource: kind.resource }));
  const read: Handler = (exchange) => {
    readParameters(exchange.target.query, PARAMETERS);
    deadline.check(exchange);
    const send = (representation: Representation): void | Promise<void> =>
      sendRepresentation(writer, exchange, { ...LIST_HEADERS, representation, staleSeconds: age.staleSeconds() });
    const answer = summary.read();
    return answer instanceof Promise ? deadline.allowed(answer, exchange).then(send) : send(answer);
  };
  return {
    template: `/kapis/resources.${kind.platform}.io/v1alpha3/${kind.singularName}summary`,
    access: 'authorized',
    admission: 'other',
    produces: 'json',
    allowedMs,
    resolve(exchange) {
      exchange.asks(ofKind(exchange.signedIn.info));
      return 'next';
    },
    methods: { GET: read, HEAD: read },
  };
}
