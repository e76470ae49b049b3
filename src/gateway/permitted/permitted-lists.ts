import type { Subject } from '../../authorization/authorizer.ts';
import { createPermittedNamespaces, type PermittedNamespaces } from '../../authorization/permitted-namespaces.ts';
import type { PermittedScope, PermittedScopes } from '../../authorization/permitted-scope.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Clock } from '../../runtime/clock.ts';
import { AUTHENTICATED } from '../caller.ts';
import type { Gateway, GatewayCall } from '../gateway.ts';
import type { AskedCollection, PermittedCall } from './asked-collection.ts';
import { isOurContinue } from './continue-token.ts';
import { AheadSeats } from './list-as-caller.ts';
import type { OwnReads, WholeCollection } from './own-reads.ts';
import { PermittedAnswer } from './permitted-answer.ts';
import { expired } from './refusals.ts';
import { ScopeHistory } from './scope-history.ts';
import type { KindOf } from './served-kinds.ts';
import { type ViewedScope, watchedScope } from './viewed-scope.ts';

export interface PermittedListsParts {
  readonly gateway: Gateway;
  readonly scopes: PermittedScopes;
  readonly reads: OwnReads;
  readonly kindOf: KindOf;
  /** Kinds that nobody gets a permitted list of; Secrets never have one. */
  isDenied(group: string, resource: string): boolean;
  readonly clock: Clock;
  /** Called when the cluster does not let our own account read a collection. */
  onNoRight(collection: AskedCollection): void;
}

/** For how long it is remembered that the cluster lets us impersonate a user. */
const PROVEN_MS = 60_000;
/** How many users are remembered. */
const MOST_PROVEN = 10_000;

/**
 * Answers lists and watches over the whole cluster for callers whom the cluster refuses them: over the namespaces where they have the
 * right (docs/contract/gateway.md, section 12).
 */
export class PermittedLists {
  readonly #parts: PermittedListsParts;
  readonly #namespacesOf: PermittedNamespaces;
  readonly #history: ScopeHistory;
  readonly #seats = new AheadSeats();
  /** When the cluster last let us impersonate a user. */
  readonly #provenAt = new BoundedMap<number>(MOST_PROVEN);

  constructor(parts: PermittedListsParts) {
    this.#parts = parts;
    this.#namespacesOf = createPermittedNamespaces(parts.scopes);
    this.#history = new ScopeHistory(parts.clock);
  }

  /**
   * The answer to the call; `undefined` if it is to be passed on: the caller has the right over the whole cluster, or in no namespace, or
   * the kind has no permitted list. Rejects with the refusal of a call that must not be sent.
   */
  async answerTo(permitted: PermittedCall, signal: AbortSignal): Promise<PermittedAnswer | undefined> {
    const { gateway, clock, reads, onNoRight } = this.#parts;
    const { asked, call } = permitted;
    if (this.#isDenied(asked) || !(await this.#hasNamespaces(asked))) return undefined;
    const caller = await gateway.admitted(call, signal);
    const subject = knownSubject(permitted.subject, caller.groups);
    if (await permitted.isAllowed(subject)) {
      // The client began the list when it had the right in some namespaces only. The cluster would answer 400 to our token.
      if (isOurContinue(continueIn(permitted.query))) throw expired();
      return undefined;
    }
    const viewed = await this.#viewOf(subject, asked, signal);
    if (viewed.scope.names.size === 0) return undefined;
    const key = JSON.stringify([subject, asked.group, asked.resource]);
    this.#history.seen(key, viewed.viewId);
    return new PermittedAnswer(permitted, {
      ...{ gateway, clock, reads, onNoRight, viewed, key },
      history: this.#history,
      seats: this.#seats,
      prove: (limited) => this.#prove(call, limited),
      currentView: (limited) => this.#viewOf(subject, asked, limited),
    });
  }

  #isDenied({ group, resource }: AskedCollection): boolean {
    return (group === '' && resource === 'secrets') || this.#parts.isDenied(group, resource);
  }

  async #hasNamespaces(asked: AskedCollection): Promise<boolean> {
    return isNamespaces(asked) || (await this.#parts.kindOf(asked))?.namespaced === true;
  }

  async #viewOf(subject: Subject, asked: AskedCollection, signal: AbortSignal): Promise<ViewedScope> {
    const list = this.#scopeFor(subject, asked, 'list', signal);
    if (asked.verb === 'watch') return watchedScope(list, this.#scopeFor(subject, asked, 'watch', signal));
    const scope = await list;
    return { scope, viewId: scope.id, isPartial: false };
  }

  #scopeFor(
    subject: Subject,
    asked: AskedCollection,
    verb: 'list' | 'watch',
    signal: AbortSignal,
  ): PermittedScope | Promise<PermittedScope> {
    const { scopes } = this.#parts;
    const { group, version, resource } = asked;
    if (isNamespaces(asked)) return this.#namespacesOf(subject, signal);
    return scopes.scopeOf(subject, { verb, group, version, resource }, signal);
  }

  /**
   * Asks the cluster, once a minute, whether we may call it as this user at all. Where the cluster would refuse that, our own account
   * reads nothing for the user.
   */
  async #prove(call: GatewayCall, signal: AbortSignal): Promise<void> {
    const { gateway, clock } = this.#parts;
    const { name, groups } = call.actingAs ?? call.caller;
    const key = JSON.stringify([name, groups]);
    const at = this.#provenAt.get(key) ?? Number.NEGATIVE_INFINITY;
    if (clock.monotonic() - at < PROVEN_MS) return;
    const { onSend: _, body: __, ...rest } = call;
    const asked = { ...rest, kind: 'discovery' as const, target: '/version', rawHeaders: [] };
    await gateway.forward(asked, { start: () => undefined, data: () => undefined }, signal);
    this.#provenAt.set(key, clock.monotonic());
  }
}

const isNamespaces = ({ group, resource }: WholeCollection): boolean => group === '' && resource === 'namespaces';

/** The subject without the groups that the cluster does not let us name. */
function knownSubject(subject: Subject, groups: readonly string[]): Subject {
  const known = subject.groups.filter((group) => group === AUTHENTICATED || groups.includes(group));
  return known.length === subject.groups.length ? subject : { ...subject, groups: known };
}

const continueIn = (query: string): string => new URLSearchParams(query).get('continue') ?? '';
