import { digestOf } from './authorization-code.ts';
import type { AuthorizationRequest } from './authorization-request.ts';

/** 66 bits, which is enough to distinguish the few requests that one person agrees to. */
const DIGEST_CHARACTERS = 11;

/** A digest of what a person agrees to: this client, these scopes, and this host of the redirect address (B-17). */
export function consentTo({ clientId, scope = '', redirectURI }: AuthorizationRequest): string {
  const words = scope.split(' ').sort().join(' ');
  return digestOf([clientId, words, placeOf(redirectURI)].join('\n')).slice(0, DIGEST_CHARACTERS);
}

/** The host and port of an address, or its scheme if that is a private one (RFC 8252 7.1). */
export function placeOf(uri: string): string {
  const { host, protocol } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol;
}
