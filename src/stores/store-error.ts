/**
 * Why there is no answer from a store.
 * - `refused`: the store refuses the query; `message` is public.
 * - `away`: the store cannot be reached or trusted, does not accept our credentials, or cannot work now; message and cause are private.
 * - `slow`: the store gave up at the time limit of the query.
 * - `full`: we have no memory for its answer beside other answers.
 * - `unsupported`: it is a kind or version of store that we do not support; `message` is public.
 */
export class StoreError extends Error {
  readonly kind: 'refused' | 'away' | 'slow' | 'full' | 'unsupported';

  constructor(kind: StoreError['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreError';
    this.kind = kind;
  }
}

/** The answer is longer than we accept. It counts as a refusal, after which fewer records may be requested. */
export class TooLongAnswer extends StoreError {
  /** The first part of the answer. */
  readonly beginning: string;

  constructor(store: string, beginning: string, cause: unknown) {
    super('refused', `the answer of ${store} is too long; ask for fewer records`, cause);
    this.name = 'TooLongAnswer';
    this.beginning = beginning;
  }
}
