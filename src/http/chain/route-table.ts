import type { Route } from '../exchange.ts';

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
