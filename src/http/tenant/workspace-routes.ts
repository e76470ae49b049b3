import type { HeldKind } from '../../kinds/mirrors/held-kind.ts';
import { objectComposer, selectionComposer } from '../../resources/bytes/list-body.ts';
import type { Composer, Representation } from '../../resources/bytes/representation.ts';
import type { Entry } from '../../resources/entries/entry.ts';
import { typeMembers } from '../../resources/entries/object-kind.ts';
import { selectedOf } from '../../resources/fetched-list.ts';
import { createListQueryParser, type ListQuery } from '../../resources/query/list-query.ts';
import type { Within } from '../../resources/query/within.ts';
import { atOnce } from '../../runtime/time-slices.ts';
import { notFound } from '../../status-error.ts';
import { createBindingsOf, workspacesOf } from '../../tenant/memberships.ts';
import { madeUpWorkspace, type WorkspaceKind, workspaceKinds } from '../../tenant/workspace-kinds.ts';
import { toRepresentation } from '../answer/document.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import { forbidden } from '../chain/authorize.ts';
import type { Exchange, Handler, Route } from '../exchange.ts';
import { checkPageLength, sendKindList } from '../kinds/send-kind-list.ts';
import { allowedMs, LIST_HEADERS } from '../routes/lists.ts';
import { asksFor } from './rewritten.ts';
import type { TenantRouteParts } from './served-tenant.ts';

/**
 * The lists and single objects of workspaces and of their templates (CO-04). Who may list all workspaces sees all; everybody else those of
 * the bindings that name them, and the default workspace.
 */
export function workspaceRoutes(parts: TenantRouteParts): Route[] {
  const { names } = parts;
  const { workspaces, templates } = workspaceKinds(names);
  const reads = new WorkspaceReads(parts);
  const common = {
    access: 'authorized',
    admission: 'other',
    produces: 'json',
    allowedMs,
    resolve: asksFor({ verb: 'list', group: names.group, version: 'v1alpha1', resource: 'workspaces' }),
    narrows: () => true,
  } as const;
  const routesOf = (path: string, kind: WorkspaceKind): Route[] => {
    const [list, get] = [reads.list(kind), reads.get(kind)];
    const template = `/kapis/${names.group}/${path}`;
    return [
      { ...common, template, methods: { GET: list, HEAD: list } },
      { ...common, template: `${template}/{workspace}`, methods: { GET: get, HEAD: get } },
    ];
  };
  return [
    ...routesOf('v1alpha3/workspacetemplates', templates),
    ...routesOf('v1alpha3/workspaces', workspaces),
    // 3.4 answers with templates here, and its older clients read their members.
    ...routesOf('v1alpha2/workspaces', templates),
  ];
}

class WorkspaceReads {
  readonly #parts: TenantRouteParts;
  readonly #bindingsOf = createBindingsOf();

  constructor(parts: TenantRouteParts) {
    this.#parts = parts;
  }

  list(kind: WorkspaceKind): Handler {
    const { writer, deadline, kinds, heldIfThere, defaultWorkspace } = this.#parts;
    const parse = createListQueryParser(kind);
    return async (exchange) => {
      const query = parse(exchange.target.query);
      const within = await this.#visible(exchange);
      const held = await heldIfThere(kind);
      if (held && kinds && defaultWorkspace === undefined) {
        const lists = { writer, deadline, objects: kinds.objects };
        return sendKindList(lists, exchange, held, { query, within, further: undefined });
      }
      const made = this.#madeList(exchange, { kind, held, query, within });
      const headers = { ...LIST_HEADERS, staleSeconds: held?.lister.staleSeconds(), deadline };
      return sendRepresentation(writer, exchange, { ...headers, representation: await made });
    };
  }

  get(kind: WorkspaceKind): Handler {
    const { writer, kinds, heldIfThere, defaultWorkspace, names } = this.#parts;
    return async (exchange) => {
      const [name = ''] = exchange.parameters;
      const within = await this.#visible(exchange);
      if (within && !within.names.has(name)) throw this.#refusal(exchange, kind, name);
      const held = await heldIfThere(kind);
      const found =
        held?.way === 'fields'
          ? await kinds?.objects.one(held.clusterKind, { namespace: '', name }, exchange.signal)
          : held?.lister.get(name);
      const representation = found ?? (name === defaultWorkspace ? madeUpObject(name, kind) : undefined);
      if (!representation) throw notFound(kind.resource, name, names.group);
      const staleSeconds = held?.lister.staleSeconds();
      return sendRepresentation(writer, exchange, { ...LIST_HEADERS, representation, staleSeconds });
    };
  }

  /** The workspaces of a caller without the right to all of them. `undefined`: all. */
  async #visible(exchange: Exchange): Promise<Within | undefined> {
    const { names, heldIfThere, defaultWorkspace } = this.#parts;
    if (exchange.decision?.allowed !== false) return undefined;
    const bindings = await heldIfThere({ group: names.iamGroup, resource: 'workspacerolebindings' });
    const own = bindings ? this.#bindingsOf(bindings.store, exchange.signedIn.identity) : [];
    return workspacesOf(own, names, defaultWorkspace === undefined ? [] : [defaultWorkspace]);
  }

  #refusal({ signedIn: { identity, info } }: Exchange, { resource }: WorkspaceKind, name: string) {
    return forbidden(identity.name, { ...info, verb: 'get', resource, name });
  }

  /** The list with the default workspace in it, unless the cluster has one of its name; an empty list if there is none. */
  async #madeList(exchange: Exchange, { kind, held, query, within }: AskedWorkspaces): Promise<Representation> {
    const { kinds, defaultWorkspace } = this.#parts;
    const stored = held ? held.lister.select(EVERYTHING, within).entries : [];
    const isThere = defaultWorkspace === undefined || held?.store.get(defaultWorkspace) !== undefined;
    const madeUp = isThere ? [] : [madeUpWorkspace(defaultWorkspace, kind)];
    const selection = selectedOf([...stored, ...madeUp], kind, query);
    if (held?.way !== 'fields' || !kinds) return representationOf(selectionComposer(selection));
    checkPageLength(held, selection.entries);
    const read = await kinds.objects.entries(held.clusterKind, selection.entries, exchange.signal);
    const whole = new Map([...read, ...madeUp].map((entry) => [entry.key, entry]));
    const entries = selection.entries.flatMap(({ key }): Entry[] => {
      const entry = whole.get(key);
      return entry ? [entry] : [];
    });
    return representationOf(selectionComposer({ entries, total: selection.total }));
  }
}

interface AskedWorkspaces {
  readonly kind: WorkspaceKind;
  readonly held: HeldKind | undefined;
  readonly query: ListQuery;
  readonly within: Within | undefined;
}

const EVERYTHING: ListQuery = {
  ...{ limit: -1n, page: 1n, sortBy: 'creationTimestamp', ascending: false },
  ...{ conditions: [], filterKey: '' },
};

const madeUpObject = (name: string, kind: WorkspaceKind): Representation =>
  representationOf(objectComposer(madeUpWorkspace(name, kind).encoded, typeMembers(kind)));

/** There are hundreds of workspaces at most, so the body is made in one step. */
const representationOf = (composer: Composer): Representation =>
  toRepresentation(Buffer.concat(atOnce(composer.identity())));
