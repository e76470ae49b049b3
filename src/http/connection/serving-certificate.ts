import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Server } from 'node:https';
import { createSecureContext, type TlsOptions } from 'node:tls';
import type { Counter, Gauge } from 'prom-client';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { followFiles } from '../../runtime/followed-file.ts';

/** The PEM files of a port. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /**
   * The authorities that issue client certificates. If it is set, clients are asked for a certificate; a client without one is
   * served all the same.
   */
  readonly clientCAFile?: string;
}

interface FollowParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Counts changes of the files, by whether they are used (`ok`) or not (`invalid`). */
  readonly reloads: Counter<'server' | 'result'>;
  /** When the certificate in use expires, in seconds since 1970. */
  readonly expirations: Gauge<'server'>;
  /** The port that the certificate is for. */
  readonly name: string;
}

interface Pems {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
}

/**
 * Several files cannot be replaced in one step: files that do not fit together are read again after this time before they count as
 * invalid.
 */
const SETTLE_MS = 1_000;

/**
 * Certificates are usually renewed 30 days before they expire, so at 14 days the renewal is late. The alert
 * (docs/operations/monitoring.md) uses the same time.
 */
const EXPIRES_SOON_MS = 14 * 24 * 3_600_000;

/** The certificate and key of a port, and the authorities of client certificates. */
export interface ServingCertificate {
  /** The options as they were read at start. */
  readonly options: TlsOptions;
  /**
   * Watches the files until the signal aborts: new handshakes use changed files within seconds, and open connections stay as they
   * are (C-31, docs/promises.md). TLS sessions from before a change are not resumed, so that a removed authority is not trusted any
   * more. If the files cannot be used, the last valid ones stay in use. At the start and after each change it updates the metric of
   * the certificate's expiry, and logs a warning if that is soon.
   */
  follow(server: Pick<Server, 'setSecureContext'>, parts: FollowParts, signal: AbortSignal): Promise<void>;
}

/** Throws when a file cannot be read; the contents were checked together with the configuration. */
export function readServingCertificate(files: TlsFiles): ServingCertificate {
  let inUse = readAtStart(files);
  const follow: ServingCertificate['follow'] = async (server, parts, signal) => {
    const { clock, logger, reloads, name } = parts;
    const reload = async (): Promise<void> => {
      let next = await readGood(files);
      if ('fault' in next) {
        await clock.sleep(SETTLE_MS, signal);
        next = await readGood(files);
      }
      if (signal.aborted || ('cert' in next && isSame(next, inUse))) return;
      reloads.inc({ server: name, result: 'fault' in next ? 'invalid' : 'ok' });
      if ('fault' in next) {
        logger.error({ fault: next.fault }, 'the changed TLS files are not taken: the last good ones stay');
        return;
      }
      server.setSecureContext(toTlsOptions(next));
      inUse = next;
      logger.info({ validTo: new X509Certificate(next.cert).validTo }, 'the changed TLS files are in use');
      reportExpiry(inUse, parts);
    };
    // Each series starts at 0: Prometheus sees no increase of a series that begins at 1.
    for (const result of ['ok', 'invalid']) reloads.inc({ server: name, result }, 0);
    reportExpiry(inUse, parts);
    await followFiles(Object.values(files), reload, { clock, signal });
  };
  return { options: toTlsOptions(inUse), follow };
}

function reportExpiry({ cert }: Pems, { clock, logger, expirations, name }: FollowParts): void {
  const expiresAtMs = expiryOf(cert);
  expirations.set({ server: name }, expiresAtMs / 1_000);
  const leftMs = expiresAtMs - clock.now();
  if (leftMs > EXPIRES_SOON_MS) return;
  const expiresAt = new Date(expiresAtMs).toISOString();
  logger.warn(
    { expiresAt },
    leftMs > 0 ? 'the serving certificate expires soon' : 'the serving certificate has expired',
  );
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The time at which the first of the file's certificates expires: clients need the intermediate authorities, too. */
const expiryOf = (pem: string): number =>
  Math.min(...(pem.match(CERTIFICATE) ?? [pem]).map((one) => new X509Certificate(one).validToDate.getTime()));

const toTlsOptions = ({ cert, key, ca }: Pems): TlsOptions => ({
  cert,
  key,
  ...(ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: false }),
  minVersion: 'TLSv1.2',
});

const isSame = (a: Pems, b: Pems): boolean => a.cert === b.cert && a.key === b.key && a.ca === b.ca;

function readAtStart({ certFile, keyFile, clientCAFile }: TlsFiles): Pems {
  const read = (file: string): string => readFileSync(file, 'utf8');
  return {
    cert: read(certFile),
    key: read(keyFile),
    ...(clientCAFile === undefined ? {} : { ca: read(clientCAFile) }),
  };
}

async function readPems({ certFile, keyFile, clientCAFile }: TlsFiles): Promise<Pems> {
  const read = (file: string): Promise<string> => readFile(file, 'utf8');
  const [cert, key] = await Promise.all([read(certFile), read(keyFile)]);
  return { cert, key, ...(clientCAFile === undefined ? {} : { ca: await read(clientCAFile) }) };
}

/** Reads and checks the files. The fault never quotes their content. */
async function readGood(files: TlsFiles): Promise<Pems | { readonly fault: string }> {
  const pems = await readPems(files).catch((error: NodeJS.ErrnoException) => error);
  if (pems instanceof Error) return { fault: `cannot read a file (${pems.code ?? 'unknown reason'})` };
  try {
    if (!new X509Certificate(pems.cert).checkPrivateKey(createPrivateKey(pems.key)))
      return { fault: 'the key is not that of the certificate' };
    // With an empty file Node would trust its built-in authorities, and so certificates that anybody can get.
    if (pems.ca !== undefined) new X509Certificate(pems.ca);
    createSecureContext(toTlsOptions(pems));
    return pems;
  } catch {
    return { fault: 'a file does not contain a usable certificate or key in PEM' };
  }
}
