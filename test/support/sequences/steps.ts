// biome-ignore lint/suspicious/noExplicitAny: bodies of any shape are made, sent and compared
export type Json = any;

/** One request of a sequence. Bodies and queries may refer to earlier answers of the server (`references.ts`). */
export interface Step {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** The collection of the objects in the answer, if later steps may refer to them. */
  readonly collection?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Json;
  /** Default: JSON. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A watch of a sequence. It begins before one of the steps, and ends with the event of an object that is made last. */
export interface Watch {
  /** The path of the collection. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The watch is opened before the step with this number. */
  readonly before: number;
  /** An object that the watch selects, made after all steps. */
  readonly last: Json;
}

/** A user of a sequence, with rights of its own. */
export interface Caller {
  readonly name: string;
  /** The rights in the namespace of the sequence. */
  readonly rules: readonly Json[];
  /** The rights in the whole cluster. */
  readonly clusterRules: readonly Json[];
}

/** The requests that are sent to both servers. All names in it begin with `id`, which is different in each sequence. */
export interface Sequence {
  readonly id: string;
  readonly namespace: string;
  readonly caller: Caller | undefined;
  readonly steps: readonly Step[];
  readonly watches: readonly Watch[];
}

/** The answer of a server to one step. */
export interface Outcome {
  readonly status: number;
  readonly body: Json;
}

/** The answers and events of one server for a sequence, in comparable form. */
export interface Course {
  readonly outcomes: readonly Outcome[];
  /** The events of each watch. */
  readonly events: readonly (readonly Json[])[];
}
