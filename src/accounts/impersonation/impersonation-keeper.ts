import { isConflict } from '../../kubernetes/client/api-client.ts';
import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LastingFailure } from '../../runtime/lasting-failure.ts';
import type { Random } from '../../runtime/random.ts';
import { AdmissionCheck } from './admission-check.ts';
import type { ChosenUsers } from './chosen-users.ts';
import { type ConfirmationParts, confirmed } from './confirmed-additions.ts';
import type { FollowFaults } from './follow-faults.ts';
import { type ImpersonationForm, type ImpersonationRole, toRules } from './impersonation-role.ts';
import { LastingDifferences } from './lasting-differences.ts';
import type { MirroredImpersonation } from './mirrored-impersonation.ts';
import { type Difference, differencesOf, type PlannedWrite, planRoles, type WantedNames } from './role-plan.ts';

/** The time between two looks at what differs. */
const LOOK_MS = 250;
/**
 * Another replica acts when a difference has lasted this long, plus up to the same again at random: the holder of the Lease usually acts
 * within `LOOK_MS`. If it has died, a user who was disabled is still out of the roles within 5 s, long before the Lease expires.
 */
const PATIENCE_MS = 1_500;
/** The least time between two writes that add names, so that an import of thousands of users does not write a role for each. */
const BATCH_MS = 1_000;
/** The wait after a failed write, and before a name that the cluster did not confirm is read again. */
const RETRY_MS = 1_000;
/** The wait before a name without room is tried again. A user who leaves makes room; an operator who upgrades the chart does too. */
const FULL_MS = 30_000;
/** A watch shows our own write long before this; if not, the role is written again. */
const SHOWN_MS = 5_000;

export interface ImpersonationKeeperParts extends ConfirmationParts {
  readonly chosen: ChosenUsers;
  readonly roles: MirroredImpersonation;
  readonly form: ImpersonationForm;
  /** The ClusterRoles as objects to write. */
  readonly clusterRoles: Pick<ClusterObjects, 'patch'>;
  readonly faults: FollowFaults;
  /** Whether users, ClusterRoles and bindings are in memory, so that `chosen` is complete. */
  isKnown(): boolean;
  /** Whether this process holds the Lease of the replicas. */
  isHolder(): boolean;
  /** Called with the result of each write of a role. */
  onWrite(result: 'written' | 'conflict' | 'failed'): void;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * Keeps the ClusterRoles that say whom we may impersonate equal to the chosen users. It runs on every replica. The holder of the Lease
 * acts at once and the others a little later, so that nothing depends on one process; each write is a compare-and-swap. A name is added
 * only after a read confirms it and only while an admission policy limits what may be written. Nothing holds a removal back.
 */
export class ImpersonationKeeper {
  readonly #parts: ImpersonationKeeperParts;
  readonly #failure: LastingFailure;
  readonly #check: AdmissionCheck;
  readonly #patienceMs: number;
  readonly #lasting = new LastingDifferences();
  /** The version of each role that our last write replaced, and when we sent it. */
  readonly #replaced = new Map<string, { readonly version: string; readonly at: number }>();
  /** What a look last found to be equal. With thousands of users the next look would cost a millisecond and as much garbage. */
  #equal: { readonly stored: readonly ImpersonationRole[]; readonly wanted: WantedNames } | undefined;
  #addedAt = Number.NEGATIVE_INFINITY;
  #retryAt = Number.NEGATIVE_INFINITY;

  constructor(parts: ImpersonationKeeperParts) {
    this.#parts = parts;
    this.#failure = new LastingFailure(parts.clock, parts.logger);
    this.#check = new AdmissionCheck(parts);
    this.#patienceMs = PATIENCE_MS * (1 + parts.random.fraction());
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, isKnown } = this.#parts;
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, signal);
      if (signal.aborted || !isKnown() || clock.monotonic() < this.#retryAt) continue;
      await this.#look(signal);
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { clock, faults, roles } = this.#parts;
    try {
      faults.set('missing-role', roles.missing().length);
      await this.#settle(signal);
      faults.set('write', 0);
      this.#failure.over({}, 'the ClusterRoles of gateway.accounts can be written again');
    } catch (error) {
      if (signal.aborted) return;
      this.#retryAt = clock.monotonic() + RETRY_MS;
      faults.set('write', 1);
      this.#failure.failed({ err: error }, 'the ClusterRoles of gateway.accounts cannot be kept equal to the users');
    }
  }

  async #settle(signal: AbortSignal): Promise<void> {
    const { clock, roles, chosen, faults, isHolder } = this.#parts;
    const now = clock.monotonic();
    const [stored, wanted] = [roles.roles(), chosen.wanted()];
    if (this.#equal?.stored === stored && this.#equal.wanted === wanted) return;
    const differences = differencesOf(stored, wanted);
    this.#lasting.observe(differences, now);
    faults.set('nobody', chosen.size === 0 ? 1 : 0);
    faults.set('name', chosen.unusable);
    const patience = isHolder() ? 0 : this.#patienceMs;
    const due = differences.filter((difference) => this.#lasting.isDue(difference, patience, now));
    const isForeign = isHolder() && stored.some(({ isOurs }) => !isOurs);
    if (due.length === 0 && !isForeign) {
      if (differences.length > 0) return;
      faults.set('room', 0);
      if (stored.every(({ isOurs }) => isOurs)) this.#equal = { stored, wanted };
      return;
    }
    const surplus = due.filter(({ isMissing }) => !isMissing);
    const missing = now - this.#addedAt < BATCH_MS ? [] : due.filter(({ isMissing }) => isMissing);
    const plan = planRoles(stored, [...surplus, ...(await this.#allowed(missing, now))]);
    if (missing.length > 0) faults.set('room', plan.withoutRoom.length);
    this.#lasting.putOff(plan.withoutRoom, now + FULL_MS);
    for (const write of plan.writes) if (!signal.aborted) await this.#write(write);
  }

  /** The missing names that may be added now. */
  async #allowed(missing: readonly Difference[], now: number): Promise<readonly Difference[]> {
    const { roles, faults } = this.#parts;
    const [first] = roles.roles();
    if (missing.length === 0 || !first) return [];
    this.#addedAt = now;
    const finding = await this.#check.finding(first.name);
    faults.set('policy', finding === 'limited' ? 0 : 1, finding === 'limited' ? undefined : finding.fault);
    const allowed = finding === 'limited' ? await confirmed(missing, this.#parts) : [];
    const rest = missing.filter((difference) => !allowed.includes(difference));
    this.#lasting.putOff(rest, now + RETRY_MS);
    return allowed;
  }

  async #write({ role, names, added }: PlannedWrite): Promise<void> {
    const { clusterRoles, form, clock, onWrite, logger } = this.#parts;
    const { name, resourceVersion } = role;
    const now = clock.monotonic();
    const last = this.#replaced.get(name);
    // The watch does not show our last write yet: this plan is of the state before it.
    if (last?.version === resourceVersion && now - last.at < SHOWN_MS) return;
    try {
      await clusterRoles.patch(name, { metadata: { resourceVersion }, rules: toRules(names, form) });
      this.#replaced.set(name, { version: resourceVersion, at: now });
      onWrite('written');
      const counts = { users: names.users.length, addedUsers: added.users.length, groups: names.groups.length };
      logger.info({ clusterRole: name, ...counts }, 'wrote whom the gateway may impersonate');
    } catch (error) {
      onWrite(isConflict(error) ? 'conflict' : 'failed');
      // Another replica was faster. The watch shows what it wrote.
      if (isConflict(error)) this.#replaced.set(name, { version: resourceVersion, at: now });
      else throw error;
    }
  }
}
