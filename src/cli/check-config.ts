import type { ReadFile } from '../config/clients.ts';
import type { Config, Warnings } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { ConfigError, type Problem } from '../config/problem.ts';
import { readCredentialFiles } from '../kubernetes/access/credentials.ts';
import { findAccess, NoClusterError } from '../kubernetes/access/find-access.ts';
import { NO_CHAIN } from '../kubernetes/access/impersonation.ts';
import { parseUsersFile } from '../users/users-file-content.ts';

interface CheckParts {
  readonly readFile: ReadFile;
  /** The environment variables that the server would start with: they may name a kubeconfig and a proxy. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads the configuration and every file that it names, as the server does when it starts, but sends the cluster nothing.
 * Throws a `ConfigError` with every problem.
 */
export async function checkConfig(path: string | undefined, parts: CheckParts): Promise<Warnings> {
  const { config, warnings } = loadConfig(path, parts.readFile);
  const access = await checkAccess(config, parts.environment);
  const problems = [...usersFileProblems(config, parts.readFile), ...access.problems];
  if (problems.length > 0) throw new ConfigError(path ?? 'the default configuration', problems);
  return [...warnings, ...access.warnings];
}

function usersFileProblems({ platform, users, authentication }: Config, readFile: ReadFile): readonly Problem[] {
  if (users.file === undefined) return [];
  try {
    const rules = { platform, maxHashCost: authentication.passwordHash.maxCost };
    const content = parseUsersFile(readFile(users.file), rules);
    if ('users' in content) return [];
    return content.problems.map(({ path, message }) => ({
      path: 'users.file',
      message: `${users.file}: ${path ? `${path}: ` : ''}${message}`,
    }));
  } catch (error) {
    return [{ path: 'users.file', message: `cannot read the file: ${(error as Error).message}` }];
  }
}

/** A configuration that names no cluster is no problem: it may be meant for a pod. An exec plugin is not run. */
async function checkAccess(
  { kubernetes, gateway }: Config,
  environment: CheckParts['environment'],
): Promise<{ readonly problems: readonly Problem[]; readonly warnings: Warnings }> {
  const problem = (message: string): Problem => ({ path: 'kubernetes.kubeconfig', message });
  try {
    const access = await findAccess({ ...kubernetes, environment });
    await readCredentialFiles(access);
    const problems = gateway.enabled && access.impersonation ? [problem(NO_CHAIN)] : [];
    return { problems, warnings: access.warnings ?? [] };
  } catch (error) {
    return { problems: error instanceof NoClusterError ? [] : [problem((error as Error).message)], warnings: [] };
  }
}
