import type { AccountReads } from '../../accounts/account-reads.ts';
import type { UserPresenter } from '../../accounts/users/user-presenter.ts';
import type { AccountWrites } from '../../accounts/writes/account-writes.ts';
import type { Kind } from '../../resources/entries/kind.ts';
import { answeredResource } from '../../resources/entries/object-kind.ts';
import { notFound, type StatusError } from '../../status-error.ts';
import type { AnswerWriter } from '../answer/answer.ts';
import { toRepresentation } from '../answer/document.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import type { AnswerDeadline } from '../chain/answer-deadline.ts';
import type { Exchange, Handler, Methods, ResourceKind, Route } from '../exchange.ts';
import type { RouteFamily } from '../family.ts';
import { firstPasswordRoute, type UserWriteHandlers, userWriteHandlers } from './account-writes.ts';
import { allowedMs, LIST_HEADERS, listHandler } from './lists.ts';

/** The reads and writes of users and platform roles that the routes serve. */
export interface ServedAccounts {
  readonly reads: AccountReads;
  readonly writes: AccountWrites;
  readonly presenter: UserPresenter;
  /** Whether the gateway serves the cluster's own paths. Then the routes below take only one kind of call from it: a first password. */
  readonly gatewayIsOpen: boolean;
}

export const accountFamily =
  ({ reads, writes, presenter, gatewayIsOpen }: ServedAccounts): RouteFamily =>
  (tools) => {
    const handlers = userWriteHandlers({ ...tools, writes, presenter });
    return { routes: accountRoutes({ ...tools, reads, writes: handlers, gatewayIsOpen }) };
  };

interface AccountRouteParts extends Pick<ServedAccounts, 'reads' | 'gatewayIsOpen'> {
  readonly writes: UserWriteHandlers;
  readonly writer: AnswerWriter;
  readonly deadline: AnswerDeadline;
}

/** Users need no right to read their own data. */
const OWN_READS = { GET: 'free', HEAD: 'free' } as const;

const COMMON = { access: 'authorized', admission: 'other', produces: 'json', allowedMs } as const;

/**
 * The routes of users, of the roles, login records and password of a user, and of platform roles (docs/contract/accounts.md,
 * section 2).
 */
function accountRoutes({ reads, writes, writer, deadline, gatewayIsOpen }: AccountRouteParts): Route[] {
  const { names, users, roles } = reads;
  const base = `/kapis/${names.apiVersion}`;
  const handlers = createReadHandlers(reads, writer, deadline);
  const role = getOf(handlers.role);
  return [
    {
      ...COMMON,
      template: `${base}/users`,
      readsForm: true,
      methods: { ...getOf(listHandler(users, { writer, deadline })), POST: writes.create },
      kind: discovered(users.kind),
    },
    {
      ...COMMON,
      template: `${base}/users/{user}`,
      readsForm: true,
      methods: { ...getOf(handlers.user), PUT: writes.update, DELETE: writes.remove },
      self: { ...OWN_READS, PUT: 'narrowed' },
      guardsBelow: true,
    },
    {
      ...COMMON,
      template: `${base}/users/{user}/password`,
      readsForm: true,
      methods: { PUT: writes.changePassword },
      self: { PUT: 'free' }, // the body must have the current password
    },
    ...(['globalroles', 'loginrecords'] as const).map(
      (word): Route => ({
        ...COMMON,
        template: `${base}/users/{user}/${word}`,
        methods: getOf(handlers[word]),
        self: OWN_READS,
      }),
    ),
    {
      ...COMMON,
      template: `${base}/globalroles`,
      methods: getOf(listHandler(roles, { writer, deadline })),
      kind: discovered(roles.kind),
    },
    { ...COMMON, template: `${base}/globalroles/{role}`, methods: role },
    firstPasswordRoute(names.apiVersion, writes, { isOnlyOne: gatewayIsOpen }),
  ];
}

const getOf = (handler: Handler): Methods => ({ GET: handler, HEAD: handler });

function discovered({ answered, kind, singularName, namespaced, shortNames }: Kind): ResourceKind {
  return { kind: answered?.kind ?? kind, singularName, namespaced, shortNames };
}

function createReadHandlers(reads: AccountReads, writer: AnswerWriter, deadline: AnswerDeadline) {
  const { names, users, roles } = reads;
  const unknown = ({ kind }: { kind: Kind }, name: string): StatusError =>
    notFound(answeredResource(kind), name, names.group);
  const nameIn = ({ parameters: [name = ''] }: Exchange): string => name;
  const knownIn = (exchange: Exchange): string => {
    const name = nameIn(exchange);
    if (!reads.isKnown(name)) throw unknown(users, name);
    return name;
  };
  const user: Handler = (exchange) => {
    const name = nameIn(exchange);
    const other = (): Uint8Array | undefined => reads.otherUser(name);
    const representation = users.lister.get(name) ?? optional(other());
    if (!representation) throw unknown(users, name);
    const staleSeconds = users.age.staleSeconds();
    return sendRepresentation(writer, exchange, { ...LIST_HEADERS, representation, staleSeconds });
  };
  const role: Handler = (exchange) => {
    const name = nameIn(exchange);
    const representation = roles.lister.get(name);
    if (!representation) throw unknown(roles, name);
    const staleSeconds = roles.age.staleSeconds();
    return sendRepresentation(writer, exchange, { ...LIST_HEADERS, representation, staleSeconds });
  };
  const globalroles: Handler = (exchange) => {
    const representation = toRepresentation(reads.rolesOf(knownIn(exchange)));
    const staleSeconds = older(users.age.staleSeconds(), roles.age.staleSeconds());
    return sendRepresentation(writer, exchange, { ...LIST_HEADERS, representation, staleSeconds });
  };
  const loginrecords: Handler = async (exchange) => {
    const list = reads.loginRecords.listOf(knownIn(exchange), exchange.target.query);
    const representation = toRepresentation(await deadline.bound(list, exchange));
    return sendRepresentation(writer, exchange, { ...LIST_HEADERS, representation });
  };
  return { user, role, globalroles, loginrecords };
}

const optional = (body: Uint8Array | undefined) => body && toRepresentation(body);

const older = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
