import type { Outcome } from './outcomes.ts';

/** The kubeconfigs that client-go accepts and we refuse: our message, and the reason. */
const REFUSED_BY_US: readonly (readonly [sentence: RegExp, reason: string])[] = [
  [/in clear text; use https/, 'client-go leaves the credential out without a word, and is nobody'],
  [/a client certificate, which only TLS carries$/, 'client-go leaves the certificate out without a word'],
  [/has no user "/, 'client-go goes on without a credential: the name is a mistake'],
  [/has a password without a username$/, 'client-go drops the password'],
  [/has a client key without its certificate$/, 'client-go drops the key'],
  [/has no credential, but /, 'client-go drops a member that it does not know, and is nobody'],
  [/has the token REDACTED/, 'client-go sends the word'],
  [/names its server without https:/, 'client-go speaks plain http to it, without the credential'],
  [/names its server by ftp:/, 'client-go fails at the first request'],
  [
    /has a name or a password in its server address/,
    'client-go sends them, where the user may have another credential',
  ],
  [/has a server address that cannot be used(: .*)?$/, 'readers of addresses differ about it'],
  [/names a proxy with (https|socks5):/, 'we speak to proxies by http alone'],
  [/has no valid proxy address in proxy-url$/, 'client-go fails at the first request'],
  [/has a namespace that is no name of one$/, 'the API server refuses it at the first request'],
  [/has a user without a name$/, 'client-go takes the entry without a name for the user of a context that names none'],
  [/has no cluster ""$/, 'client-go takes the entry without a name for the cluster of a context that names none'],
  [/has no current context$/, 'client-go takes the entry without a name for the current context'],
  [/names a member twice at line/, 'client-go takes the last one'],
  [/holds more than one document$/, 'client-go reads the first one alone'],
  [/has a tag at line/, 'client-go drops tags that it does not know'],
  [
    /has a name of a member that is not text at line/,
    'client-go writes the number or truth value as text, `01` as `1`',
  ],
  [/has a number in an extension that readers take differently$/, 'client-go writes `0123` as 83'],
  [/wrote no ExecCredential of/, 'client-go reads YAML too, which the definition of ExecCredential does not offer'],
  [/extensions have a name twice$/, 'client-go lets a second one be where the first is null'],
  [/: \S+ is empty$/, 'client-go trusts public authorities where the file of the authority is empty'],
  [/is a number, not text: put it in quotes$/, 'client-go reads a number of more than 64 bits as text'],
  [/it holds a line break of YAML 1.1 alone$/, 'readers of YAML differ about where a line ends'],
];

/** Over plain http, client-go ignores the TLS settings and the credential. There, these refusals of ours are deliberate. */
const REFUSED_WITHOUT_TLS: readonly RegExp[] = [
  /holds no certificate that can be read$|beside a certificate authority; remove one of them$/,
  /cannot read the cluster credential: |the exec plugin |has an exec plugin |asks for an auth-provider/,
  /token.* that no header can carry$/,
  // A token file beside a password: client-go's check of the file counts the text of tokens alone, and its transport the credentials that it sends.
  /has both a token and a password$/,
];

/** The names of all deliberate differences. */
export const DIFFERENCES: readonly string[] = [
  ...REFUSED_BY_US.map(([sentence]) => String(sentence)),
  'refused without TLS',
  'a credential to loopback',
  'blanks around a token',
];

/** The relation of two outcomes: `equal`, `both refuse`, the name of a deliberate difference, or `different`. */
export function compare(ours: Outcome, theirs: Outcome): string {
  if ('refused' in ours) {
    if ('refused' in theirs) return 'both refuse';
    const known = REFUSED_BY_US.find(([sentence]) => sentence.test(ours.refused));
    if (known) return String(known[0]);
    return theirs.tls === undefined && REFUSED_WITHOUT_TLS.some((one) => one.test(ours.refused))
      ? 'refused without TLS'
      : 'different';
  }
  if ('refused' in theirs) return 'different';
  if (isSame(ours, theirs)) return 'equal';
  // client-go sends the blanks, with which the API server finds no token in the header.
  if (isSame(ours, withoutBlanks(theirs))) return 'blanks around a token';
  // client-go sends a credential to no server without TLS, not even to this machine.
  const { authorization, ...others } = ours.headers;
  const isLoopback = /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(\/|$)/.test(ours.server);
  const isMeant = isLoopback && authorization !== undefined && isSame({ ...ours, headers: others }, theirs);
  return isMeant ? 'a credential to loopback' : 'different';
}

const isSame = (one: Outcome, other: Outcome): boolean =>
  JSON.stringify(ordered(one)) === JSON.stringify(ordered(other));

function withoutBlanks(outcome: Exclude<Outcome, { refused: string }>): Outcome {
  const { authorization, ...others } = outcome.headers;
  if (authorization === undefined) return outcome;
  const trimmed = authorization.map((value) => value.replace(/^Bearer\s+(.*?)\s*$/, 'Bearer $1'));
  return { ...outcome, headers: { ...others, authorization: trimmed } };
}

function ordered(outcome: Outcome): unknown {
  if ('refused' in outcome) return outcome;
  const headers = Object.entries(outcome.headers).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [outcome.server, outcome.namespace, outcome.proxy, headers, outcome.tls];
}
