// biome-ignore lint/suspicious/noExplicitAny: bodies of any shape are made, sent and compared
export type Json = any;

/** One request of a sequence. Bodies and queries may hold references to what the server has answered before (`references.ts`). */
export interface Step {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** The collection of the objects in its answer, where a later step may refer to them. */
  readonly collection?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Json;
  /** Default: JSON. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A watch of a sequence, from before one of its steps until an object that is made for its end. */
export interface Watch {
  /** The collection. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** It is opened before the step of this number. */
  readonly before: number;
  /** An object that the watch selects, made after all steps. */
  readonly last: Json;
}

/** A user of a sequence, with rights of its own. */
export interface Caller {
  readonly name: string;
  /** In the namespace of the sequence. */
  readonly rules: readonly Json[];
  /** In the whole cluster. */
  readonly clusterRules: readonly Json[];
}

/** What is asked of both servers. All names in it begin with `id`, which no other sequence has. */
export interface Sequence {
  readonly id: string;
  readonly namespace: string;
  readonly caller: Caller | undefined;
  readonly steps: readonly Step[];
  readonly watches: readonly Watch[];
}

/** What a server answered. */
export interface Outcome {
  readonly status: number;
  readonly body: Json;
}

/** All that one server did with a sequence, in words that two servers can share. */
export interface Course {
  readonly outcomes: readonly Outcome[];
  /** Of each watch. */
  readonly events: readonly (readonly Json[])[];
}
