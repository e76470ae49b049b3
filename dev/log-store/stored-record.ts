import { wordsOf } from './words.ts';

/** A record as collectors write it for KubeSphere 3.4. */
export interface LogDocument {
  readonly log: string;
  /** RFC 3339, with up to nine digits behind the second. */
  readonly time: string;
  readonly kubernetes: {
    readonly namespace_name: string;
    readonly pod_name: string;
    readonly container_name?: string;
    readonly docker_id: string;
  };
}

/** A record, with the values that searches compare. */
export class StoredRecord {
  readonly document: LogDocument;
  readonly id: string;
  /** Milliseconds since 1970. Records are ordered by nothing else. */
  readonly at: number;
  /** `YYYY.MM.DD`, in UTC. */
  readonly day: string;
  /** The index of its day, in which it is stored. */
  readonly index: string;
  readonly #texts = new Map<string, string | undefined>();
  readonly #words = new Map<string, readonly string[]>();

  constructor(document: LogDocument, id = '') {
    this.document = document;
    this.id = id;
    this.at = Date.parse(document.time);
    this.day = new Date(this.at).toISOString().slice(0, 10).replaceAll('-', '.');
    this.index = `ks-logstash-log-${this.day}`;
  }

  /** A member by its path, such as `kubernetes.pod_name`. */
  text(field: string): string | undefined {
    if (!this.#texts.has(field)) this.#texts.set(field, this.#textIn(field));
    return this.#texts.get(field);
  }

  #textIn(field: string): string | undefined {
    let value: unknown = this.document;
    for (const name of field.split('.')) value = (value as Record<string, unknown> | undefined)?.[name];
    return typeof value === 'string' ? value : undefined;
  }

  words(field: string): readonly string[] {
    const known = this.#words.get(field) ?? wordsOf(this.text(field) ?? '');
    this.#words.set(field, known);
    return known;
  }
}
