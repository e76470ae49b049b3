/**
 * A file that may change while we run, with what counts until it can be read, or content as configured.
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
  /** What to do when the program is not there. */
  readonly installHint?: string;
  /** What the plugin gets about the cluster, without its authority; only if the kubeconfig asks for that. */
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
  /** The user that our requests impersonate. */
  readonly impersonation?: ImpersonationHeaders;
  /** The proxy through which the server is reached. */
  readonly proxy?: URL;
  /** Settings that exist but are ignored, one sentence each. */
  readonly warnings?: readonly string[];
}

/**
 * Request headers that make the API server treat us as another user: name and value. Each group is a header of its own.
 */
export type ImpersonationHeaders = Readonly<Record<string, string | readonly string[]>>;
