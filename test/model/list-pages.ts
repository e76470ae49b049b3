import type { Failure } from '../../src/kubernetes/reflector/failure.ts';
import type { ListPage, ListRequest } from '../../src/kubernetes/reflector/lister-watcher.ts';
import type { Setting } from './commands.ts';
import type { History } from './history.ts';
import type { Witness } from './witness.ts';

/** How the model's server answers lists: at which version, and in which pages. */
export class ListPages {
  readonly #history: History;
  readonly #setting: Setting;
  readonly #witness: Witness;
  readonly #seen: () => number;

  /** `seen`: how far this replica of the API server has come. */
  constructor(parts: { history: History; setting: Setting; witness: Witness; seen: () => number }) {
    this.#history = parts.history;
    this.#setting = parts.setting;
    this.#witness = parts.witness;
    this.#seen = parts.seen;
  }

  page(request: ListRequest, isOlder: boolean, signal: AbortSignal): ListPage | Failure {
    const history = this.#history;
    const [timeline = '', at = '', from = '0'] = (request.continueToken ?? '').split(':');
    const chosen = request.continueToken ? Number(at) : this.#versionOf(request, isOlder);
    const isGone = request.continueToken !== undefined && Number(timeline) !== history.timeline;
    if (isGone || chosen < history.compacted) return this.#expired(request);
    if (chosen > (request.version === '' ? history.version : this.#seen())) return tooLarge(this.#witness);
    const state = history.stateAt(chosen);
    const end = Number(from) + this.#setting.pageSize;
    const items = [...state.values()].slice(Number(from), end);
    const isLast = end >= state.size;
    if (isLast && !request.metadataOnly)
      this.#witness.served({ version: chosen, state, isQuorum: request.version === '', signal });
    return {
      kind: 'page',
      resourceVersion: history.textOf(chosen),
      continueToken: isLast ? '' : `${history.timeline}:${chosen}:${end}`,
      items: request.metadataOnly ? items.map(({ kind, metadata }) => ({ kind, metadata })) : items,
    };
  }

  /** The newest state by quorum, the very one, or any from a version on; a server that is `isOlder` breaks its word. */
  #versionOf({ version }: ListRequest, isOlder: boolean): number {
    const history = this.#history;
    if (version === '') return history.version;
    if ('exact' in version) return history.versionOf(version.exact);
    const least = history.versionOf(version.notOlderThan);
    if (isOlder) return Math.max(history.compacted, Math.min(least - 2, this.#seen()));
    return Math.max(least, this.#seen() - this.#setting.listLag, history.compacted);
  }

  #expired(request: ListRequest): Failure {
    if (!request.metadataOnly) this.#witness.outOfReach('expired');
    return { kind: 'expired' };
  }
}

export function tooLarge(witness: Witness): Failure {
  witness.outOfReach('too large');
  return { kind: 'too_large_version' };
}
