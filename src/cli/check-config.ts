import type { ReadFile } from '../config/clients.ts';
import type { Config, Warnings } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { ConfigError, type Problem } from '../config/problem.ts';
import { kubeconfigAccess } from '../kubernetes/access/kubeconfig.ts';
import { parseUsersFile } from '../users/users-file-content.ts';

/**
 * Reads the configuration and every file that it names, as a start would, without asking the cluster anything. Throws a
 * `ConfigError` with every problem.
 */
export async function checkConfig(path: string | undefined, readFile: ReadFile): Promise<Warnings> {
  const { config, warnings } = loadConfig(path, readFile);
  const problems = [...usersFileProblems(config, readFile), ...(await kubeconfigProblems(config))];
  if (problems.length > 0) throw new ConfigError(path ?? 'the default configuration', problems);
  return warnings;
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

async function kubeconfigProblems({ kubernetes }: Config): Promise<readonly Problem[]> {
  if (kubernetes.kubeconfig === undefined) return [];
  return kubeconfigAccess([kubernetes.kubeconfig]).then(
    () => [],
    (error: Error) => [{ path: 'kubernetes.kubeconfig', message: error.message }],
  );
}
