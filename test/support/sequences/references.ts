import type { Json, Outcome } from './steps.ts';

/**
 * What a server has answered in a sequence so far. A request refers to it by strings of their own: versions, uids and contents differ
 * from server to server.
 */
export class Answered {
  readonly #versions = new Map<string, string[]>();
  readonly #contents = new Map<string, Json>();

  /** Remembers the object or the list in an answer; `collection` is the path of its collection. */
  note(collection: string, { body }: Outcome): void {
    if (Array.isArray(body?.items)) this.#add(collection, body.metadata?.resourceVersion);
    else if (body?.metadata?.uid) {
      const path = `${collection}/${body.metadata.name}`;
      this.#add(path, body.metadata.resourceVersion);
      this.#contents.set(path, body);
    }
  }

  /** The value with what is meant in place of every reference. A member that means nothing yet is left out. */
  fill(value: Json): Json {
    if (typeof value === 'string') return this.#meant(value);
    if (Array.isArray(value)) return value.map((one) => this.fill(one));
    if (typeof value !== 'object' || value === null) return value;
    const { $changed, $by, ...members } = value;
    if ($changed) return merged(this.#contents.get($changed) ?? {}, this.fill($by));
    const filled = Object.entries(members).map(([name, member]) => [name, this.fill(member)] as const);
    return Object.fromEntries(filled.filter(([, member]) => member !== undefined));
  }

  #meant(text: string): string | undefined {
    const [, what, path = ''] = /^\$(newest|oldest|uid):(.*)$/.exec(text) ?? [];
    if (what === 'uid') return this.#contents.get(path)?.metadata.uid;
    if (what === 'newest') return this.#versions.get(path)?.at(-1);
    return what === 'oldest' ? this.#versions.get(path)?.at(0) : text;
  }

  #add(path: string, version: string | undefined): void {
    if (!version) return;
    const known = this.#versions.get(path) ?? [];
    if (known.at(-1) !== version) this.#versions.set(path, [...known, version]);
  }
}

/** The newest version that the server has told of an object or a collection. */
export const newest = (path: string): string => `$newest:${path}`;
/** The first one. */
export const oldest = (path: string): string => `$oldest:${path}`;
export const uidOf = (path: string): string => `$uid:${path}`;
/** The object as it was told last, changed by a merge patch: what a client reads, changes and sends back. */
export const changed = (path: string, by: Json): Json => ({ $changed: path, $by: by });

function merged(target: Json, patch: Json): Json {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result = typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}
