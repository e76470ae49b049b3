import { readFileSync } from 'node:fs';

/** A request in a case. Every string may contain placeholders. */
export interface CaseRequest {
  readonly method: string;
  readonly path: string;
  /** A header with the value null is not sent. */
  readonly headers?: Readonly<Record<string, string | null>> | readonly (readonly [string, string])[];
  readonly form?: Readonly<Record<string, string>> | undefined;
  readonly json?: unknown;
  readonly body?: string;
  /** The body is the answer to GET `of`, as the administrator or as `as`, merged with `merge` (RFC 7386). */
  readonly edit?: { readonly of: string; readonly as?: string; readonly merge: object } | undefined;
}

export type Matcher =
  | null
  | string
  | number
  | boolean
  | readonly unknown[]
  | {
      readonly any?: true;
      readonly type?: string;
      readonly match?: string;
      readonly not?: string;
      readonly contains?: readonly string[];
      readonly oneOf?: readonly unknown[];
      readonly [member: string]: unknown;
    };

/** The conditions for the answer, all of which must hold. */
export interface Expectation {
  readonly stance: 'same' | 'better';
  readonly status?: number | readonly number[];
  readonly shape?: 'status' | 'oauth' | 'token' | 'list' | 'json' | 'empty';
  readonly error?: string;
  readonly reason?: string | readonly string[];
  readonly mentions?: string;
  readonly names?: readonly string[];
  readonly totalItems?: number;
  readonly usage?: Readonly<Record<string, Readonly<Record<string, string>> | null>>;
  readonly fields?: Readonly<Record<string, Matcher>>;
  readonly eachItem?: Readonly<Record<string, Matcher>>;
  readonly headers?: Readonly<Record<string, Matcher>>;
  readonly layout?: 'compact' | 'indent 2';
  /** The body, or its number of lines and its SHA-256. */
  readonly text?: string | { readonly lines: number; readonly sha256: string };
  /** The body is a watch: its lines as `TYPE name`, sorted. */
  readonly events?: readonly string[];
  readonly equalTo?: string;
}

export interface ObservedCase {
  readonly id: string;
  readonly group: string;
  readonly state?: 'no-pods' | 'only-finished';
  readonly needs?: string;
  readonly setup?: readonly { readonly request: CaseRequest; readonly times?: number }[];
  /** Milliseconds between setup and request. */
  readonly pause?: number;
  readonly request: CaseRequest;
  readonly expect: Expectation;
}

const FOLDER = new URL('../../contract/observed/', import.meta.url);

/** Reads one of the data files. */
export const readObserved = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');

/** The recorded groups, in this order. The last two fail sign-ins on purpose and depend on their order. */
export const GROUPS: readonly string[] = [
  'nodes-list',
  'nodes-get',
  'nodes-usage',
  'http',
  'bearer-auth',
  'health-version-config',
  'oauth-endpoints',
  'token-client-auth',
  'token-malformed',
  'token-refresh',
  'token-password',
  'login-throttle',
];

/** The recorded groups about accounts, in this order. They need their own fixture; the last one changes most of it. */
export const ACCOUNT_GROUPS: readonly string[] = ['accounts-roles', 'accounts-records', 'accounts-users'];

/** The recorded group about the paths of the cluster, with the fixture of accounts. It changes no user. */
export const GATEWAY_GROUP = 'gateway';

/** The recorded groups about logs, with their own store and people. */
export const LOG_GROUPS: readonly string[] = ['logging', 'logging-times'];

/** The recorded cases of a group, in the order of the file. */
export function readCases(group: string): ObservedCase[] {
  const lines = readObserved(`${group}.jsonl`).split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as ObservedCase);
}
