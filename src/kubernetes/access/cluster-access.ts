/**
 * A file that may change while we run, with the content to use until the file can be read (`otherwise`); or the content itself.
 */
export type Source = { readonly file: string; readonly otherwise?: string } | { readonly data: string | Buffer };

/** `client.authentication.k8s.io`: a program that provides a credential. */
export interface ExecCommand {
  /** `client.authentication.k8s.io/v1` or `…/v1beta1`. */
  readonly apiVersion: string;
  /** A path, or a name to be looked up in `PATH`. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  /** The kubeconfig's text about how to install the program, for the error when it does not exist. */
  readonly installHint?: string;
  /** The cluster as it is passed to the plugin, without the CA; only with `provideClusterInfo`. */
  readonly cluster?: ExecClusterInfo;
}

/** `spec.cluster` of an ExecCredential. */
export interface ExecClusterInfo {
  readonly server: string;
  readonly 'tls-server-name'?: string;
  readonly 'insecure-skip-tls-verify'?: true;
  readonly 'proxy-url'?: string;
  readonly 'disable-compression'?: true;
  readonly config: unknown;
}

/**
 * The address of the cluster and our credential for it, as found in the pod or in a kubeconfig. The files that it names have not
 * been read yet.
 */
export interface ClusterAccess {
  readonly inCluster: boolean;
  /** The URL of the server, with its path prefix, if any, and without a slash at the end. */
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
  /** The user that our requests impersonate. */
  readonly impersonation?: ImpersonationHeaders;
  /** The proxy between us and the server. */
  readonly proxy?: URL;
  /** One sentence for each setting that is ignored. */
  readonly warnings?: readonly string[];
}

/**
 * Request headers that make the API server treat us as another user, by name. A list of values is sent as one header for each.
 */
export type ImpersonationHeaders = Readonly<Record<string, string | readonly string[]>>;
