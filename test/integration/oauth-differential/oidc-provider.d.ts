/** What the differential tests use of oidc-provider, which comes without types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface GrantContext {
    readonly oidc: {
      readonly params: Readonly<Record<string, string | undefined>>;
      readonly client: { readonly clientId: string };
    };
    body: unknown;
  }

  interface StoredToken {
    readonly expiration: number;
    readonly tokenType: string;
    save(): Promise<string>;
  }

  interface StoredGrant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }

  export class Provider {
    constructor(issuer: string, configuration: object);
    readonly AccessToken: new (
      content: object,
    ) => StoredToken;
    readonly RefreshToken: new (
      content: object,
    ) => StoredToken;
    readonly Grant: new (
      content: object,
    ) => StoredGrant;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    registerGrantType(name: string, handler: (context: GrantContext) => Promise<void>, parameters: string[]): void;
    on(event: 'server_error', listener: (context: unknown, error: Error) => void): void;
  }

  export const errors: Readonly<
    Record<'InvalidRequest' | 'InvalidGrant' | 'InvalidScope', new (description: string) => Error>
  >;
}
