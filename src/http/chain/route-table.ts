import type { Exchange } from './exchange.ts';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Answers one request of a route. Throws or rejects with a `StatusError` or `OAuthError`, which the error writer sends. */
export type Handler = (exchange: Exchange) => void | Promise<void>;

/** One path that is served. The table of all of them is the only place that says what is public. */
export interface Route {
  /** The path with `{…}` for a variable segment: also its name in metrics and in the description. */
  readonly template: string;
  /** `public`: the bearer is not looked at. `signed-in`: any verified caller. `authorized`: the authorizer is asked too. */
  readonly access: 'public' | 'signed-in' | 'authorized';
  /** Which places it takes while in flight: HL-05. Health takes none. */
  readonly admission: 'health' | 'sign-in' | 'other';
  /** A POST reads a form (or a review), and calls `exchange.admit` only when it has arrived. */
  readonly readsForm?: true;
  /** `json` routes answer 406 to a caller that accepts no JSON. */
  readonly produces: 'json' | 'any';
  readonly methods: Readonly<Partial<Record<Method, Handler>>>;
  /** Answers a GET or HEAD that asks to watch the collection. It checks `Accept` itself. */
  readonly watch?: Handler;
  /** Set on the collection of a kind: how discovery names it (`metav1.APIResource`). */
  readonly kind?: ResourceKind;
  /** Set on a path that was withdrawn: every method answers 410 with this message. */
  readonly gone?: (parameters: readonly string[]) => string;
}

export interface ResourceKind {
  readonly kind: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
}

export interface Match {
  readonly route: Route;
  readonly parameters: readonly string[];
}

/** A route's `Allow`: alphabetical, OPTIONS included (RFC 9110 10.2.1). */
export function allowOf(route: Route): string {
  return [...Object.keys(route.methods), 'OPTIONS'].sort().join(', ');
}

interface Branch {
  readonly literal: Map<string, Branch>;
  variable?: Branch;
  route?: Route;
}

const newBranch = (): Branch => ({ literal: new Map() });

/** Finds the route of a canonical path. A literal segment wins over a variable one. */
export class RouteTable {
  readonly routes: readonly Route[];
  readonly #root = newBranch();

  constructor(routes: readonly Route[]) {
    this.routes = routes;
    for (const route of routes) this.#add(route);
  }

  match(segments: readonly string[]): Match | undefined {
    const parameters: string[] = [];
    let branch: Branch | undefined = this.#root;
    for (const segment of segments) {
      const literal: Branch | undefined = branch.literal.get(segment);
      if (!literal) parameters.push(segment);
      branch = literal ?? branch.variable;
      if (!branch) return undefined;
    }
    return branch.route && { route: branch.route, parameters };
  }

  #add(route: Route): void {
    let branch = this.#root;
    for (const segment of route.template.split('/').filter((part) => part !== '')) {
      if (segment.startsWith('{')) {
        branch.variable ??= newBranch();
        branch = branch.variable;
      } else {
        const next = branch.literal.get(segment) ?? newBranch();
        branch.literal.set(segment, next);
        branch = next;
      }
    }
    if (branch.route) throw new Error(`two routes for ${route.template}`);
    branch.route = route;
  }
}
