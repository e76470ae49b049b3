/** A file that may change while we run, or its content as configured. */
export type Source = { readonly file: string } | { readonly data: string | Buffer };

/** `client.authentication.k8s.io`: a program that provides a credential. */
export interface ExecCommand {
  readonly command: string;
  readonly [member: string]: unknown;
}

/**
 * Where the cluster is and how to prove who we are, as found in the pod or in a kubeconfig. The files that it names
 * have not been read yet.
 */
export interface ClusterAccess {
  readonly inCluster: boolean;
  /** With the path prefix, if it has one; without a slash at the end. */
  readonly server: string;
  readonly namespace: string | undefined;
  readonly ca?: Source;
  readonly certificate?: Source;
  readonly key?: Source;
  readonly token?: Source;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly exec?: ExecCommand;
  readonly serverName?: string;
  readonly skipTlsVerify: boolean;
  /** The user that the API server is to treat us as. */
  readonly impersonation?: ImpersonationHeaders;
  /** The proxy through which the server is reached. */
  readonly proxy?: URL;
}

/**
 * Request headers that make the API server treat us as another user: name and value. Each group is a header of its own.
 */
export type ImpersonationHeaders = Readonly<Record<string, string | readonly string[]>>;
