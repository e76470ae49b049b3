import type { Json, Outcome } from './steps.ts';

/**
 * The answers of a server in a sequence so far. Later requests refer to them by special strings, because versions, uids and contents
 * differ between servers.
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

  /** Replaces every reference in the value. A member that refers to nothing yet is left out. */
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

/** Refers to the newest known version of an object or a collection. */
export const newest = (path: string): string => `$newest:${path}`;
/** Refers to the first known version. */
export const oldest = (path: string): string => `$oldest:${path}`;
export const uidOf = (path: string): string => `$uid:${path}`;
/** Refers to the last known state of an object, changed by a merge patch, as a client reads, changes and sends it back. */
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
