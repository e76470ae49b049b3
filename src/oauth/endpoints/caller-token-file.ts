import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Logger } from '../../observability/logger.ts';
import { parseCallerToken } from '../../runtime/caller-token.ts';
import type { Clock } from '../../runtime/clock.ts';
import { followFile } from '../../runtime/followed-file.ts';

/** The bearer that callers of the webhook show, kept in a file. */
export interface CallerTokenFile {
  token(): string | undefined;
  /** Follows the file. If it cannot be used, the last good token stays in use. Only a bug makes it throw. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * The configuration check has read the file before. If the file went bad since, nobody is let in until it is good
 * again.
 */
export function createCallerTokenFile(
  path: string,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): CallerTokenFile {
  let token = parseCallerToken(readAtStart(path));
  const reload = async (): Promise<void> => {
    const text = await readFile(path, 'utf8').catch(() => undefined);
    const next = text === undefined ? undefined : parseCallerToken(text);
    if (next === undefined) logger.error({ path }, 'the caller token file cannot be used: the last good token stays');
    else if (next !== token) logger.info({ path }, 'the changed caller token is in use');
    token = next ?? token;
  };
  return { token: () => token, run: (signal) => followFile(path, reload, { clock, signal }) };
}

function readAtStart(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
