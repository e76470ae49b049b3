import { hash } from 'node:crypto';
import { unlessAborted } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import type { FairSeats } from '../runtime/limits/fair-seats.ts';
import { StatusError } from '../status-error.ts';
import type { Authorizer, Subject } from './authorizer.ts';
import { createDecisionKeys } from './decision-cache.ts';
import { filterByReview } from './namespace-reviews.ts';
import type { NamespacedRight, PermittedScope, PermittedScopes } from './permitted-scope.ts';

/** A namespace that exists. */
interface ExistingNamespace {
  readonly name: string;
  readonly uid: string;
}

/** The namespaces that exist, in memory. */
export interface NamespaceSource {
  /** Changes when a namespace comes or goes. Throws a 503 while they are not known or too old. */
  version(): number;
  all(): readonly ExistingNamespace[];
}

export interface PermittedScopesParts {
  readonly authorizer: Authorizer;
  /** The seats that the reviews of many namespaces share. */
  readonly seats: FairSeats;
  readonly namespaces: NamespaceSource;
  readonly clock: Clock;
  /** How long a scope holds while the cluster gives no decision, as single decisions do: `authorization.maxStaleness`. */
  readonly maxStaleMs: number;
}

/**
 * A scope is reviewed again when it is this old, as a decision is. A large one is reviewed at most at this rate, so that one caller who
 * may see 3,000 namespaces costs the cluster 50 reviews a second and not 300; a right that was withdrawn there holds for a minute.
 */
const LEAST_LIFETIME_MS = 10_000;
const MS_PER_NAMESPACE = 20;
const MOST_LIFETIME_MS = 60_000;
/** The namespaces that are not in the scope: a new right shows this late at most. */
const MOST_DENIED_LIFETIME_MS = 300_000;

/** How many namespaces all scopes together remember: 100 bytes each, 25 MB. The scope that was used longest ago goes first. */
const MOST_REMEMBERED = 250_000;
/** A scope itself takes as much as so many namespaces, also while it knows none. */
const WEIGHT_OF_SCOPE = 20;
/** How often the scopes are counted. There may be thousands, so not at each request. */
const COUNT_MS = 1_000;

/** Creates the scopes of all subjects. */
export const createPermittedScopes = (parts: PermittedScopesParts): PermittedScopes & { forget(user: string): void } =>
  new RememberedScopes(parts);

class RememberedScopes implements PermittedScopes {
  readonly #parts: PermittedScopesParts;
  /** In the order of their last use, the oldest first. */
  readonly #scopes = new Map<string, SubjectScope>();
  readonly #keyOf = createDecisionKeys();
  #countedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: PermittedScopesParts) {
    this.#parts = parts;
  }

  scopeOf(subject: Subject, right: NamespacedRight, signal: AbortSignal): PermittedScope | Promise<PermittedScope> {
    const { key } = this.#keyOf(subject, { resource: right });
    const known = this.#scopes.get(key) ?? new SubjectScope(subject, right, this.#parts);
    this.#scopes.delete(key);
    this.#scopes.set(key, known);
    this.#bound();
    return known.current(signal);
  }

  /** Makes the next use of each scope of this user ask the cluster again. */
  forget(user: string): void {
    for (const scope of this.#scopes.values()) if (scope.subject.name === user) scope.expire();
  }

  #bound(): void {
    const now = this.#parts.clock.monotonic();
    if (now - this.#countedAt < COUNT_MS) return;
    this.#countedAt = now;
    let remembered = 0;
    for (const { weight } of this.#scopes.values()) remembered += weight;
    for (const [key, { weight }] of this.#scopes) {
      if (remembered <= MOST_REMEMBERED || this.#scopes.size === 1) return;
      this.#scopes.delete(key);
      remembered -= weight;
    }
  }
}

/** What is known of the rights of one subject, by namespace. */
class SubjectScope {
  readonly subject: Subject;
  readonly #right: NamespacedRight;
  readonly #parts: PermittedScopesParts;
  /** Name and uid of each namespace with the right, and without it. */
  #permitted = new Map<string, string>();
  #denied = new Map<string, string>();
  #scope: PermittedScope | undefined;
  /** The version of the namespaces that `#scope` was last compared with. */
  #seen: number | undefined;
  /** When the reviews began by which all permitted and all denied ones were last decided. Monotonic milliseconds. */
  #permittedAt = Number.NEGATIVE_INFINITY;
  #deniedAt = Number.NEGATIVE_INFINITY;
  /** When the last round began in which the cluster made every decision. Monotonic milliseconds. */
  #provedAt = Number.NEGATIVE_INFINITY;
  #expiries = 0;
  #round: Promise<PermittedScope> | undefined;

  constructor(subject: Subject, right: NamespacedRight, parts: PermittedScopesParts) {
    this.subject = subject;
    this.#right = right;
    this.#parts = parts;
  }

  get weight(): number {
    return WEIGHT_OF_SCOPE + this.#size;
  }

  /** A round that is under way began with the old rights, so it counts for nothing. */
  expire(): void {
    this.#permittedAt = Number.NEGATIVE_INFINITY;
    this.#deniedAt = Number.NEGATIVE_INFINITY;
    this.#provedAt = Number.NEGATIVE_INFINITY;
    this.#expiries++;
    this.#round = undefined;
  }

  get #size(): number {
    return this.#permitted.size + this.#denied.size;
  }

  current(signal: AbortSignal): PermittedScope | Promise<PermittedScope> {
    const { clock, namespaces, maxStaleMs } = this.#parts;
    const hasNew = this.#compare(namespaces.version());
    const scope = this.#scope;
    const age = clock.monotonic() - this.#permittedAt;
    const lifetimeMs = lifetimeOf(this.#permitted.size, MOST_LIFETIME_MS);
    if (!scope || age >= lifetimeMs) {
      return this.#review(signal).catch((error) => {
        const provedAge = clock.monotonic() - this.#provedAt;
        if (scope && provedAge <= maxStaleMs && isOutage(error)) return this.#scope ?? scope;
        throw error;
      });
    }
    const areDeniedOld = clock.monotonic() - this.#deniedAt >= lifetimeOf(this.#denied.size, MOST_DENIED_LIFETIME_MS);
    // Nobody waits for this round. Its failure is seen by the caller who finds the scope too old.
    if (hasNew || areDeniedOld || age >= lifetimeMs / 2) this.#review(NEVER).catch(() => undefined);
    return scope;
  }

  /** Leaves out at once what was deleted, or made again under the same name. Returns whether there are namespaces to review. */
  #compare(version: number): boolean {
    if (version === this.#seen) return false;
    const existing = this.#existing();
    for (const known of [this.#permitted, this.#denied]) {
      for (const [name, uid] of known) if (existing.get(name) !== uid) known.delete(name);
    }
    this.#seen = version;
    if (this.#scope) this.#show();
    return existing.size > this.#size;
  }

  /** One round of reviews. All callers wait for the same one; it goes on when the first of them gives up. */
  #review(signal: AbortSignal): Promise<PermittedScope> {
    const round =
      this.#round ??
      this.#decideAll().finally(() => {
        if (this.#round === round) this.#round = undefined;
      });
    this.#round = round;
    return signal === NEVER ? round : unlessAborted(round, signal);
  }

  async #decideAll(): Promise<PermittedScope> {
    const { clock, namespaces } = this.#parts;
    const began = clock.monotonic();
    const all = namespaces.all();
    const isDenied = ({ name, uid }: ExistingNamespace): boolean => this.#denied.get(name) === uid;
    const denied = all.filter(isDenied);
    const isFirst = this.#scope === undefined;
    const areDeniedOld = began - this.#deniedAt >= lifetimeOf(denied.length, MOST_DENIED_LIFETIME_MS);
    const made = await this.#decide(all.filter((one) => !isDenied(one)));
    if (made === 'expired') return this.#review(NEVER);
    this.#permittedAt = began;
    if (made === 'new') this.#provedAt = began;
    if (isFirst) this.#deniedAt = began;
    // Nothing is left of the scope: before anybody is refused, we ask whether another right came instead.
    else if (areDeniedOld && this.#permitted.size === 0) await this.#decideDenied(denied, began);
    const scope = this.#show();
    if (!isFirst && areDeniedOld && this.#deniedAt < began)
      void this.#decideDenied(denied, began).catch(() => undefined);
    return scope;
  }

  /** Callers with a scope do not wait for the namespaces that were denied before. */
  async #decideDenied(denied: readonly ExistingNamespace[], began: number): Promise<void> {
    this.#deniedAt = began;
    await this.#decide(denied);
    this.#show();
  }

  /** `old`: while the cluster did not answer, decisions were used that it made before. `expired`: nothing was learnt. */
  async #decide(asked: readonly ExistingNamespace[]): Promise<'new' | 'old' | 'expired'> {
    const { authorizer, seats } = this.#parts;
    const expiries = this.#expiries;
    let areNew = true;
    const passes = async ({ name }: ExistingNamespace): Promise<boolean> => {
      const attributes = { ...this.#right, namespace: name };
      // `get` of a namespace itself is a question about its name, as in Kubernetes' request info.
      const named = this.#right.resource === 'namespaces' ? { ...attributes, name } : attributes;
      const { allowed, source } = await authorizer.authorize(this.subject, { resource: named });
      if (source === 'stale') areNew = false;
      return allowed;
    };
    const reviews = { seats, subject: this.subject.name, signal: NEVER };
    const allowed = new Set(await filterByReview(asked, passes, reviews));
    if (expiries !== this.#expiries) return 'expired';
    const existing = this.#existing();
    for (const one of asked) {
      if (existing.get(one.name) !== one.uid) {
        this.#seen = undefined; // It is gone, or was made again: the next comparison finds out.
        continue;
      }
      const [into, outOf] = allowed.has(one) ? [this.#permitted, this.#denied] : [this.#denied, this.#permitted];
      outOf.delete(one.name);
      into.set(one.name, one.uid);
    }
    return areNew ? 'new' : 'old';
  }

  #existing(): Map<string, string> {
    return new Map(this.#parts.namespaces.all().map(({ name, uid }) => [name, uid]));
  }

  #show(): PermittedScope {
    const id = idOf(this.#permitted);
    if (this.#scope?.id === id) return this.#scope;
    const names = new Set(this.#permitted.keys());
    this.#scope = { id, names, has: (namespace) => names.has(namespace) };
    return this.#scope;
  }
}

const NEVER = new AbortController().signal;

const lifetimeOf = (namespaces: number, most: number): number =>
  Math.min(most, Math.max(LEAST_LIFETIME_MS, namespaces * MS_PER_NAMESPACE));

/** Whether the cluster gave no decision. A 429 comes from our own limits, and must not keep an old scope. */
const isOutage = (error: unknown): boolean => error instanceof StatusError && error.answer.code >= 500;

/** 64 bits of SHA-256 over the sorted names and uids. */
function idOf(namespaces: ReadonlyMap<string, string>): string {
  const sorted = [...namespaces].map(([name, uid]) => `${name} ${uid}`).sort();
  return hash('sha256', sorted.join('\n'), 'hex').slice(0, 16);
}
