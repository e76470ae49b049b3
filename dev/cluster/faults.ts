import type { Behaviour } from './behaviour.ts';
import type { ApiRequest, Verb } from './request.ts';

/** Which requests a fault applies to. A condition that is left out matches all. */
export interface RequestMatch {
  readonly verb?: Verb;
  /** Plural, e.g. `nodes`. */
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  /** Lets this many matching requests pass first: 6 hits the seventh. */
  readonly skip?: number;
  /** Any further condition. */
  readonly when?: (request: ApiRequest) => boolean;
}

interface Rule {
  readonly match: RequestMatch;
  readonly behaviour: Behaviour;
  toSkip: number;
  left: number;
}

/** True if the rule has no such condition or names exactly this value. */
const agrees = (wanted: string | undefined, actual: string | undefined): boolean =>
  wanted === undefined || wanted === actual;

const matches = ({ match }: Rule, request: ApiRequest): boolean =>
  agrees(match.verb, request.verb) &&
  agrees(match.kind, request.target?.kind.plural) &&
  agrees(match.namespace, request.target?.namespace) &&
  agrees(match.name, request.target?.name) &&
  agrees(match.subresource, request.target?.subresource) &&
  (match.when?.(request) ?? true);

/**
 * The script of misbehaviour. A request gets the oldest rule that matches it and is not used up. Rules come before
 * authentication, so a scripted 401 needs no wrong token.
 */
export class Faults {
  #rules: Rule[] = [];

  /** The next matching request behaves so. */
  next(match: RequestMatch, behaviour: Behaviour): void {
    this.times(1, match, behaviour);
  }

  /** The next `count` matching requests behave so. */
  times(count: number, match: RequestMatch, behaviour: Behaviour): void {
    this.#rules.push({ match, behaviour, toSkip: match.skip ?? 0, left: count });
  }

  /**
   * Every matching request behaves so until the returned function is called. Requests that were answered in this way
   * before stay so.
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

  /** For the server: the behaviour that this request meets, counted as used. */
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
