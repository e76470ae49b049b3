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

/** What documents of one kind are like in a store. */
export interface StoredForm {
  /** The member by which they are ordered (RFC 3339). */
  readonly time: string;
  /** Their indices are called so, with the day behind. */
  readonly prefix: string;
}

/** Logs, as in KubeSphere 3.4. */
const LOGS: StoredForm = { time: 'time', prefix: 'ks-logstash-log' };

/** A document, with the values that searches compare. */
export class StoredRecord<Document extends object = LogDocument> {
  readonly document: Document;
  readonly form: StoredForm;
  readonly id: string;
  /** Milliseconds since 1970. Records are ordered by nothing else. */
  readonly at: number;
  /** `YYYY.MM.DD`, in UTC. */
  readonly day: string;
  /** The index of its day, in which it is stored. */
  readonly index: string;
  readonly #texts = new Map<string, readonly string[]>();
  readonly #words = new Map<string, readonly string[]>();

  constructor(document: Document, id = '', form: StoredForm = LOGS) {
    this.document = document;
    this.form = form;
    this.id = id;
    this.at = Date.parse((document as Readonly<Record<string, string>>)[form.time] ?? '');
    this.day = new Date(this.at).toISOString().slice(0, 10).replaceAll('-', '.');
    this.index = `${form.prefix}-${this.day}`;
  }

  /** A member by its path, such as `kubernetes.pod_name`. */
  text(field: string): string | undefined {
    return this.texts(field)[0];
  }

  /** The texts and numbers of a member: a list has several. */
  texts(field: string): readonly string[] {
    const known = this.#texts.get(field) ?? this.#textsIn(field);
    this.#texts.set(field, known);
    return known;
  }

  #textsIn(field: string): readonly string[] {
    let value: unknown = this.document;
    for (const name of field.split('.')) value = (value as Record<string, unknown> | undefined)?.[name];
    return [value].flat().flatMap((one) => (typeof one === 'string' || typeof one === 'number' ? [String(one)] : []));
  }

  words(field: string): readonly string[] {
    const known = this.#words.get(field) ?? wordsOf(this.text(field) ?? '');
    this.#words.set(field, known);
    return known;
  }
}
