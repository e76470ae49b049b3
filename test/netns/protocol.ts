/** What the parent tells the server in the far namespace. */
export type Command =
  | { readonly kind: 'look' }
  | { readonly kind: 'create'; readonly name: string }
  /** Every connection from outside is reset, as by a server that restarts. */
  | { readonly kind: 'forget' };

/** What it answers, once at its start and then to each command. */
export interface Facts {
  readonly kubeconfig: string;
  /** Of the open connections from outside. */
  readonly clientPorts: readonly number[];
  /** Of nodes, so far. */
  readonly lists: number;
}
