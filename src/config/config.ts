import type { FileConfig } from './schema.ts';

/** An OAuth client, with its secret already read. */
export interface ClientConfig {
  readonly name: string;
  readonly secret?: string;
  readonly secretName?: string;
  readonly public: boolean;
  readonly grantTypes: readonly string[];
  readonly introspectAll?: boolean;
  readonly redirectURIs: readonly string[];
  readonly grantMethod?: 'auto' | 'prompt' | 'deny';
  readonly postLogoutRedirectURIs: readonly string[];
  readonly accessTokenMaxAge?: number;
  readonly accessTokenInactivityTimeout?: number;
  readonly idTokenMaxAge?: number;
}

interface FirstAdministratorConfig {
  readonly name: string;
  readonly groups: readonly string[];
  readonly secretName: string;
}

/**
 * The settings, complete and frozen: every default that depends on another setting is filled in, every secret file is read.
 * Durations are milliseconds. `firstAdministratorWanted` is `'in-cluster'` if the file does not say: on in a cluster, off elsewhere.
 */
export interface Config extends Omit<FileConfig, 'authentication' | 'users' | 'keys'> {
  readonly authentication: Omit<FileConfig['authentication'], 'oauthOptions'> & {
    readonly oauthOptions: Omit<FileConfig['authentication']['oauthOptions'], 'clients' | 'issuer'> & {
      readonly issuer: string;
      readonly clients: readonly ClientConfig[];
    };
  };
  readonly users: {
    readonly file?: string;
    readonly firstAdministrator: FirstAdministratorConfig;
    readonly firstAdministratorWanted: 'always' | 'in-cluster' | 'never';
  };
  readonly keys: { readonly secretName: string };
}

/** What the operator should know at start, one sentence each. */
export type Warnings = readonly string[];
