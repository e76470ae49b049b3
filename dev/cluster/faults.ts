import type { Behaviour } from './behaviour.ts';
import type { ApiRequest, Verb } from './request.ts';

/** Which requests a fault applies to. A condition that is left out matches all. */
export interface RequestMatch {
  readonly verb?: Verb;
  /** The name of the kind: `nodes`, `certificates.cert-manager.io`. */
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  /** Lets this many matching requests pass first: 6 hits the seventh. */
  readonly skip?: number;
  /** A further condition. */
  readonly when?: (request: ApiRequest) => boolean;
}

interface Rule {
  readonly match: RequestMatch;
  readonly behaviour: Behaviour;
  toSkip: number;
  left: number;
}

/** Whether a condition of a rule is absent or equal to this value. */
const agrees = (wanted: string | undefined, actual: string | undefined): boolean =>
  wanted === undefined || wanted === actual;

const matches = ({ match }: Rule, request: ApiRequest): boolean =>
  agrees(match.verb, request.verb) &&
  agrees(match.kind, request.target?.kind.name) &&
  agrees(match.namespace, request.target?.namespace) &&
  agrees(match.name, request.target?.name) &&
  agrees(match.subresource, request.target?.subresource) &&
  (match.when?.(request) ?? true);

/**
 * The faults that tests have ordered, as rules. A request gets the oldest rule that matches it and is not used up. Rules come before
 * authentication, so a rule for a 401 needs no wrong token.
 */
export class Faults {
  #rules: Rule[] = [];

  /** Applies the behaviour to the next matching request. */
  next(match: RequestMatch, behaviour: Behaviour): void {
    this.times(1, match, behaviour);
  }

  /** Applies the behaviour to the next `count` matching requests. */
  times(count: number, match: RequestMatch, behaviour: Behaviour): void {
    this.#rules.push({ match, behaviour, toSkip: match.skip ?? 0, left: count });
  }

  /**
   * Applies the behaviour to every matching request until the returned function is called. Requests that came before that keep it,
   * for example a silent connection.
   */
  until(match: RequestMatch, behaviour: Behaviour): () => void {
    const rule: Rule = { match, behaviour, toSkip: match.skip ?? 0, left: Number.POSITIVE_INFINITY };
    this.#rules.push(rule);
    return () => {
      this.#rules = this.#rules.filter((other) => other !== rule);
    };
  }

  clear(): void {
    this.#rules = [];
  }

  /** For the server: returns the behaviour for this request, and counts the rule as used. */
  take(request: ApiRequest): Behaviour | undefined {
    for (const rule of this.#rules) {
      if (!matches(rule, request)) continue;
      if (rule.toSkip-- > 0) continue;
      if (--rule.left <= 0) this.#rules = this.#rules.filter((other) => other !== rule);
      return rule.behaviour;
    }
    return undefined;
  }
}
