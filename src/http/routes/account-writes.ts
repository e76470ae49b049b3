import type { IncomingMessage } from 'node:http';
import type { UserPresenter } from '../../accounts/users/user-presenter.ts';
import type { AccountWrites } from '../../accounts/writes/account-writes.ts';
import type { Caller } from '../../accounts/writes/caller.ts';
import type { AnsweredUser } from '../../accounts/writes/user-writes.ts';
import { isPageClient } from '../../oauth/authorize/page-callers.ts';
import { isWithinBrowser } from '../../oauth/sessions/session-id.ts';
import { CLIENT_PARAMETERS } from '../../resources/query/client-parameters.ts';
import { readParameters } from '../../runtime/text/parameters.ts';
import { type AnswerWriter, wholeBody } from '../answer/answer.ts';
import { toJsonBytes } from '../answer/document.ts';
import type { BodyReader } from '../answer/read-body.ts';
import { unsupportedMediaType } from '../answer/refusals.ts';
import type { AnswerDeadline } from '../chain/answer-deadline.ts';
import type { Exchange, Handler, Route } from '../exchange.ts';
import { reported } from '../request-origin.ts';
import { allowedMs } from './lists.ts';

export interface AccountWriteRouteParts {
  readonly writes: AccountWrites;
  readonly presenter: UserPresenter;
  readonly bodies: BodyReader;
  readonly deadline: Pick<AnswerDeadline, 'allowed'>;
  readonly writer: AnswerWriter;
}

/** The handlers of the routes that change users. */
export interface UserWriteHandlers {
  readonly create: Handler;
  readonly update: Handler;
  readonly remove: Handler;
  readonly changePassword: Handler;
  readonly setFirstPassword: Handler;
}

/** The largest body: a user has at most 64 groups and some annotations, and etcd stores no object above 1.5 MiB. */
const LONGEST_USER = 2 ** 20;

/** The answer is about a person and meant for this caller only, so it must not be cached. */
const NO_STORE = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };

const SUCCESS = toJsonBytes({ message: 'success' });

export function userWriteHandlers({
  writes,
  presenter,
  bodies,
  writer,
  deadline,
}: AccountWriteRouteParts): UserWriteHandlers {
  const read = async (exchange: Exchange, type: string): Promise<Buffer> => {
    refuseParameters(exchange);
    if (mediaType(exchange.request) !== type) throw unsupportedMediaType(type);
    const body = await bodies.read(exchange, LONGEST_USER);
    exchange.admit();
    return body;
  };
  const sendUser = (exchange: Exchange, { object, role }: AnsweredUser): void =>
    writer.send(exchange, 200, NO_STORE, wholeBody(Buffer.from(presenter.present(object, role))));
  const sendSuccess = (exchange: Exchange): void => writer.send(exchange, 200, NO_STORE, wholeBody(SUCCESS));
  return {
    create: async (exchange) => {
      const body = await read(exchange, JSON_TYPE);
      sendUser(exchange, await deadline.allowed(writes.create(body, callerOf(exchange)), exchange));
    },
    update: async (exchange) => {
      const body = await read(exchange, JSON_TYPE);
      const isManager = exchange.decision?.allowed === true;
      const updated = writes.update({ name: nameOf(exchange), body, isManager }, callerOf(exchange));
      sendUser(exchange, await deadline.allowed(updated, exchange));
    },
    remove: async (exchange) => {
      refuseParameters(exchange);
      await deadline.allowed(writes.remove(nameOf(exchange), callerOf(exchange)), exchange);
      sendSuccess(exchange);
    },
    changePassword: async (exchange) => {
      const body = await read(exchange, JSON_TYPE);
      await deadline.allowed(writes.changePassword({ name: nameOf(exchange), body }, callerOf(exchange)), exchange);
      sendSuccess(exchange);
    },
    setFirstPassword: async (exchange) => {
      const body = await read(exchange, JSON_PATCH_TYPE);
      const set = writes.setFirstPassword({ name: nameOf(exchange), body }, callerOf(exchange));
      sendUser(exchange, await deadline.allowed(set, exchange));
    },
  };
}

/**
 * The only call to the cluster's own paths that Gatehouse answers itself: a JSON patch of a user (docs/contract/accounts.md,
 * section 6.7). With `isOnlyOne`, the route takes only JSON patches, and the gateway serves all other calls to this path.
 */
export const firstPasswordRoute = (
  apiVersion: string,
  { setFirstPassword }: UserWriteHandlers,
  { isOnlyOne }: { readonly isOnlyOne: boolean },
): Route => ({
  template: `/apis/${apiVersion}/users/{user}`,
  access: 'signed-in',
  admission: 'other',
  produces: 'json',
  readsForm: true,
  allowedMs,
  methods: { PATCH: setFirstPassword },
  ...(isOnlyOne ? { takes: isJsonPatch } : {}),
});

const isJsonPatch = (request: IncomingMessage): boolean =>
  request.method === 'PATCH' && mediaType(request) === JSON_PATCH_TYPE;

const JSON_TYPE = 'application/json';
const JSON_PATCH_TYPE = 'application/json-patch+json';

/** The media type without its parameters (RFC 9110 8.3.1), which mean nothing for JSON. */
const mediaType = ({ headers }: IncomingMessage): string | undefined =>
  headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();

/**
 * Throws a 400 that names each query parameter, except those that clients add to every request: a `dryRun=All` that was ignored would
 * write. When the caller's time limit (`timeout`) passes, the write goes on, as it does in the API server.
 */
function refuseParameters({ target }: Exchange): void {
  readParameters(target.query, new Map(CLIENT_PARAMETERS));
}

const nameOf = ({ parameters: [name = ''] }: Exchange): string => name;

function callerOf(exchange: Exchange): Caller {
  const { source, requestId, ownRequestId, signal, signedIn } = exchange;
  const { name, uid, groups, clientId, sid } = signedIn.identity;
  // The session of a browser ends with the password, and so does all that began in it.
  const isOfBrowser = isPageClient(clientId) || (sid !== undefined && isWithinBrowser(sid));
  const session = isOfBrowser ? undefined : sid;
  const trail = { requestId, ownRequestId, clientId, sid };
  return { name, uid, groups, source, signal, session, trail, request: reported(exchange) };
}
