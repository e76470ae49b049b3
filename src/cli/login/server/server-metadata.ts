import type { ServerCalls } from './server-calls.ts';

/** What the server says about itself (RFC 8414). */
export interface ServerMetadata {
  readonly issuer: string;
  /** Whether some client of it has a sign-in by browser. */
  readonly hasBrowserSignIn: boolean;
  readonly hasDeviceSignIn: boolean;
}

/** `undefined`: the server has no metadata. Throws a `LoginError` when it cannot be reached. */
export async function readMetadata(calls: Pick<ServerCalls, 'call'>): Promise<ServerMetadata | undefined> {
  const { status, body } = await calls.call({ path: '/.well-known/openid-configuration' });
  const { issuer, authorization_endpoint: browser, device_authorization_endpoint: device } = body;
  if (status !== 200 || typeof issuer !== 'string') return undefined;
  return { issuer, hasBrowserSignIn: browser !== undefined, hasDeviceSignIn: device !== undefined };
}
