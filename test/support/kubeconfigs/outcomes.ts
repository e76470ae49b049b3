import { createHash, X509Certificate } from 'node:crypto';
import { pino } from 'pino';
import type { ClusterAccess } from '../../../src/kubernetes/access/cluster-access.ts';
import { type Credential, CredentialSource, readCredentialFiles } from '../../../src/kubernetes/access/credentials.ts';
import { findAccess } from '../../../src/kubernetes/access/find-access.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { askOracle } from '../oracles/ask-oracle.ts';
import type { Fixtures } from './fixtures.ts';
import type { Situation } from './situations.ts';

/** The result of reading a situation: a refusal, or the server, the trusted certificates and the headers that are sent. */
export type Outcome =
  | { readonly refused: string }
  | {
      readonly server: string;
      readonly namespace: string;
      readonly proxy: string | undefined;
      /** The headers of a request, in lower case. */
      readonly headers: Readonly<Record<string, readonly string[]>>;
      /** `undefined` without TLS. */
      readonly tls: Trust | undefined;
    };

interface Trust {
  readonly insecure: boolean;
  readonly serverName: string;
  /** SHA-256 of each certificate. */
  readonly authorities: readonly string[];
  readonly certificate: readonly string[];
}

/** A situation whose files are written. */
export interface Written {
  readonly situation: Situation;
  readonly paths: readonly string[];
}

/** Our own result. Runs the plug-in if there is one. */
export async function ourOutcome({ situation, paths }: Written, fixtures: Fixtures): Promise<Outcome> {
  const { environment } = fixtures;
  const [kubeconfig] = paths;
  try {
    const access = await findAccess(
      situation.isNamed
        ? { kubeconfig, environment }
        : { environment: { ...environment, KUBECONFIG: paths.join(':') } },
    );
    const logger = pino({ level: 'silent' });
    await readCredentialFiles(access);
    return ours(access, await new CredentialSource(access, { clock: systemClock, logger, environment }).current());
  } catch (error) {
    return { refused: (error as Error).message };
  }
}

function ours(access: ClusterAccess, { authorization, tls }: Credential): Outcome {
  const sent = { ...access.impersonation, ...(authorization === undefined ? {} : { authorization }) };
  const lines = Object.entries(sent).map(([name, value]) => [name.toLowerCase(), [value].flat()] as const);
  const isTls = access.server.startsWith('https:');
  return {
    server: access.server,
    namespace: access.namespace ?? 'default',
    proxy: access.proxy?.href,
    headers: readable(lines, (value) => Buffer.from(value, 'latin1').toString()),
    tls: isTls
      ? {
          insecure: !tls.rejectUnauthorized,
          serverName: tls.servername ?? '',
          authorities: digests(tls.ca ?? ''),
          certificate: digests(tls.cert ?? ''),
        }
      : undefined,
  };
}

const digests = (pem: string): readonly string[] =>
  (pem.match(/-----BEGIN[\s\S]*?-----END [A-Z]+-----/g) ?? []).map((one) =>
    createHash('sha256').update(new X509Certificate(one).raw).digest('hex'),
  );

/** Headers without the empty ones. The input of a plug-in is parsed, because the order of its members does not matter. */
function readable(
  lines: readonly (readonly [string, readonly string[]])[],
  decode: (value: string) => string,
): Readonly<Record<string, readonly string[]>> {
  const told = /^Bearer ([A-Za-z0-9+/]{20,}={0,2})\.(\w*)$/;
  const values = (all: readonly string[]) =>
    all.map(decode).map((value) => {
      const [, info = '', variable] = told.exec(value) ?? [];
      return info === '' ? value : `told ${variable} ${sorted(JSON.parse(Buffer.from(info, 'base64').toString()))}`;
    });
  return Object.fromEntries(lines.filter(([, all]) => all.length > 0).map(([name, all]) => [name, values(all)]));
}

const sorted = (value: unknown): string =>
  JSON.stringify(value, (_name, one) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );

interface TheirOutcome {
  readonly error?: string;
  readonly server?: string;
  readonly namespace?: string;
  readonly proxy?: string;
  readonly headers?: Readonly<Record<string, readonly string[]>>;
  readonly insecure?: boolean;
  readonly serverName?: string;
  readonly authorities?: readonly string[];
  readonly certificate?: readonly string[];
}

/** The results of client-go (`test/cluster/tools/kubeconfig`). */
export async function clientGoOutcomes(all: readonly Written[], fixtures: Fixtures): Promise<readonly Outcome[]> {
  const asked = all.map(({ situation, paths }) => (situation.isNamed ? { explicit: paths[0] } : { files: paths }));
  return (await askOracle<TheirOutcome>('kubeconfig', asked, fixtures.environment)).map(theirs);
}

function theirs(outcome: TheirOutcome): Outcome {
  const { error, server = '', namespace = '', proxy, headers = {}, authorities = [], certificate = [] } = outcome;
  if (error !== undefined) return { refused: error };
  const lines = Object.entries(headers).map(([name, values]) => [name.toLowerCase(), values] as const);
  const tls = { insecure: outcome.insecure ?? false, serverName: outcome.serverName ?? '', authorities, certificate };
  return {
    server: canonical(server),
    namespace,
    proxy: proxy !== undefined && URL.canParse(proxy) ? new URL(proxy).href : proxy,
    headers: readable(lines, (value) => value),
    tls: server.startsWith('https:') ? tls : undefined,
  };
}

/** The normal spelling of an address, so that both can be compared. */
const canonical = (address: string): string =>
  URL.canParse(address) ? new URL(address).href.replace(/\/$/, '') : address;
