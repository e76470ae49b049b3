import type { Passage } from '../../kubernetes/passage/passage.ts';
import type { PassedAnswer } from '../../kubernetes/passage/passed-call.ts';
import type { SendPart } from './list-part.ts';

/** A collection of the cluster, over all namespaces if it is namespaced. */
export interface WholeCollection {
  /** `''` is the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** The path of a group's version. */
function rootOf({ group, version }: Pick<WholeCollection, 'group' | 'version'>): string {
  const [one, other] = [encodeURIComponent(group), encodeURIComponent(version)];
  return group === '' ? `/api/${other}` : `/apis/${one}/${other}`;
}

/** The path of the collection, in one namespace or over all. */
export function pathOf(collection: WholeCollection, namespace?: string): string {
  const where = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${rootOf(collection)}${where}/${encodeURIComponent(collection.resource)}`;
}

/**
 * Reads collections by our own account, over the connections of users' calls. These are the only requests of the gateway that impersonate
 * nobody: GET, of a whole collection, and with no header of the client but `Accept`, reduced to JSON. What they bring is filtered before anybody sees it.
 */
export class OwnReads {
  readonly #passage: Pick<Passage, 'send'>;

  constructor(passage: Pick<Passage, 'send'>) {
    this.#passage = passage;
  }

  list(collection: WholeCollection, query: string, accept: string): SendPart {
    return (answer, signal) => this.#send(pathOf(collection) + query, { accept, isLongRunning: false }, answer, signal);
  }

  watch(collection: WholeCollection, query: string, accept: string): SendPart {
    return (answer, signal) => this.#send(pathOf(collection) + query, { accept, isLongRunning: true }, answer, signal);
  }

  /** The document of `/api/v1` or `/apis/{group}/{version}`: the kinds of a group's version. */
  kinds(version: Pick<WholeCollection, 'group' | 'version'>): SendPart {
    const how = { accept: 'application/json', isLongRunning: false };
    return (answer, signal) => this.#send(rootOf(version), how, answer, signal);
  }

  #send(
    target: string,
    { accept, isLongRunning }: { readonly accept: string; readonly isLongRunning: boolean },
    answer: PassedAnswer,
    signal: AbortSignal,
  ): Promise<void> {
    const call = { method: 'GET', target, headers: ['Accept', accept], isLongRunning, purpose: 'permitted' as const };
    return this.#passage.send(call, answer, signal);
  }
}
