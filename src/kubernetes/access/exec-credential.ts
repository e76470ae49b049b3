import { headerOctets } from '../../runtime/text/header-text.ts';
import type { ExecCommand } from './cluster-access.ts';
import { isSendable } from './header-text.ts';
import { type ClientPair, clientPair } from './tls-material.ts';

/** The credential that a plugin provides: a token, a certificate with its key, or both. */
export interface PluginCredential {
  /** The `Authorization` header. */
  readonly authorization?: string;
  readonly pair?: ClientPair;
  /** When it expires, in milliseconds since 1970; absent if that is not known. */
  readonly expiresAt?: number;
}

/** RFC 3339, as Go parses it. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}([.,]\d+)?(Z|[-+]\d{2}:\d{2})$/;

/**
 * Parses the output of a plugin: an ExecCredential of the version that the kubeconfig names. Throws an `Error` for anything else, and
 * for an output without a credential, with which we would be anonymous. The messages quote nothing of the output.
 */
export function execCredential(text: string, { command, apiVersion }: ExecCommand): PluginCredential {
  const fault = (what: string): Error => new Error(`the exec plugin ${command} ${what}`);
  const answer = membersOf(parsed(text));
  if (answer?.['kind'] !== 'ExecCredential' || answer['apiVersion'] !== apiVersion)
    throw fault(`wrote no ExecCredential of ${apiVersion}`);
  const status = membersOf(answer['status']);
  if (!status) throw fault('wrote an ExecCredential without a status');
  const [token, cert, key, end] = ['token', 'clientCertificateData', 'clientKeyData', 'expirationTimestamp'].map(
    (name) => {
      const value = status[name] ?? '';
      if (typeof value !== 'string') throw fault(`wrote a ${name} that is not text`);
      return value;
    },
  ) as [string, string, string, string];
  if (token === '' && cert === '' && key === '') throw fault('wrote neither a token nor a certificate');
  if ((cert === '') !== (key === ''))
    throw fault('wrote a certificate without its key, or a key without its certificate');
  if (!isSendable(token)) throw fault('wrote a token that no header can carry');
  const expiresAt = TIME.test(end) ? Date.parse(end.replace(',', '.')) : Number.NaN;
  if (end !== '' && Number.isNaN(expiresAt)) throw fault('wrote an expirationTimestamp that is no time of RFC 3339');
  return {
    ...(token === '' ? {} : { authorization: `Bearer ${headerOctets(token)}` }),
    ...(cert === '' ? {} : { pair: clientPair(cert, key) }),
    ...(end === '' ? {} : { expiresAt }),
  };
}

/** Parses JSON. The parser's messages are dropped, because they quote the text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
