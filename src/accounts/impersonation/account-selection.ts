import { fitsHeader } from '../../runtime/text/header-text.ts';
import { isThere, type UserRecord } from '../users/user-record.ts';

/** A requirement of a label selector (`metav1.LabelSelectorRequirement`). */
interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values: readonly string[];
}

/** A label selector (`metav1.LabelSelector`). An object has to fulfil every requirement; an empty selector selects every object. */
interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly LabelRequirement[];
}

export interface AccountSelectionOptions {
  /** Selects User objects. */
  readonly selector: LabelSelector;
  /** Only users with one of these platform roles are chosen. Empty: every role, and none. */
  readonly roles: readonly string[];
  /** The groups that count: exact names, and prefixes that end with `*`. */
  readonly groups: readonly string[];
}

/** Decides which users may use the gateway, and with which of their groups. */
export class AccountSelection {
  readonly #options: AccountSelectionOptions;
  readonly #isReserved: (name: string) => boolean;

  /** `isReserved` recognizes names to which the cluster gives a meaning of its own. Such users and groups are never chosen. */
  constructor(options: AccountSelectionOptions, isReserved: (name: string) => boolean) {
    this.#options = options;
    this.#isReserved = isReserved;
  }

  /** Whether a change of a user's labels can choose the user. */
  get readsLabels(): boolean {
    const { matchLabels, matchExpressions } = this.#options.selector;
    return Object.keys(matchLabels).length > 0 || matchExpressions.length > 0;
  }

  selectsLabels(labels: Readonly<Record<string, string>>): boolean {
    const { matchLabels, matchExpressions } = this.#options.selector;
    const hasAll = Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
    return hasAll && matchExpressions.every((requirement) => fulfils(labels, requirement));
  }

  /** Whether the platform role of a user matters. */
  get readsRoles(): boolean {
    return this.#options.roles.length > 0;
  }

  /**
   * Whether a user with this platform role is chosen; `unusable` if only the name prevents it. Disabled users are not chosen. Those who
   * have failed to sign in too often are, because their tokens stay valid.
   */
  chooses(user: UserRecord, role: string | undefined): 'chosen' | 'unusable' | 'not' {
    const { roles } = this.#options;
    if (!isThere(user) || isDisabled(user)) return 'not';
    if (roles.length > 0 && (role === undefined || !roles.includes(role))) return 'not';
    if (!this.selectsLabels(user.labels)) return 'not';
    return this.#isUsable(user.name) ? 'chosen' : 'unusable';
  }

  /** Whether chosen users reach the cluster as members of this group. */
  choosesGroup(group: string): boolean {
    return this.#isUsable(group) && this.#options.groups.some((pattern) => fits(group, pattern));
  }

  /** RBAC compares names exactly, but constrained impersonation reads `*` as every name. */
  #isUsable(name: string): boolean {
    return name !== '' && name !== '*' && fitsHeader(name) && !this.#isReserved(name);
  }
}

/** A state that we do not know counts as Disabled, as it does at a sign-in. */
const isDisabled = ({ state }: UserRecord): boolean => !['', 'Active', 'AuthLimitExceeded'].includes(state);

const fits = (group: string, pattern: string): boolean =>
  pattern.endsWith('*') ? group.startsWith(pattern.slice(0, -1)) : group === pattern;

function fulfils(labels: Readonly<Record<string, string>>, { key, operator, values }: LabelRequirement): boolean {
  // A key such as "constructor" is no label of an object without it.
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return operator satisfies never;
  }
}
