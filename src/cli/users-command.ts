import { accountCollections } from '../accounts/account-collections.ts';
import { accountNames } from '../accounts/names.ts';
import { UserOperator, UserRequestError } from '../accounts/operator/user-operator.ts';
import { passwordFaults } from '../accounts/passwords/password-rules.ts';
import {
  encodePassword,
  passwordLabels,
  passwordPrefix,
  passwordSecretName,
} from '../accounts/passwords/password-secrets.ts';
import type { PasswordOwner } from '../accounts/passwords/password-store.ts';
import { CLUSTER_ROLES } from '../accounts/roles/role-kind.ts';
import type { Config } from '../config/config.ts';
import { type Cluster, connectCluster } from '../kubernetes/cluster.ts';
import { createLogger } from '../observability/logger.ts';
import { createUnreadRegistry } from '../observability/metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { readNewPassword } from '../users/new-password.ts';
import { hashPassword } from '../users/password-hash.ts';
import { UsersFileError } from '../users/users-file.ts';
import { parseUsersFile } from '../users/users-file-content.ts';
import type { UsersRequest } from './users-arguments.ts';

export interface UsersCommandParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly version: string;
  /** The environment variables that name a cluster. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  print(line: string): void;
  /** Reads all of standard input: one line with a password. */
  readPassword(): Promise<Buffer>;
  readFile(path: string): string;
}

/**
 * Lists or changes the users in the cluster that the configuration names, with the operator's own rights. Throws a
 * `ClusterAccessError` when there is no cluster, a `UserRequestError` when the request cannot be carried out, and a
 * `UsersFileError` when the users file has problems.
 */
export async function runUsersCommand(request: UsersRequest, config: Config, parts: UsersCommandParts): Promise<void> {
  const access = { ...config.kubernetes, environment: parts.environment, version: parts.version };
  // The thrown error already says what failed.
  const logger = createLogger({ level: 'silent', format: 'json' });
  const { clock, random } = parts;
  const cluster = await connectCluster(access, { clock, random, logger, registry: createUnreadRegistry() });
  try {
    await execute(request, createOperator(config, cluster, parts), config, parts);
  } finally {
    await cluster.close();
  }
}

async function execute(
  request: UsersRequest,
  operator: UserOperator,
  { platform, authentication }: Config,
  parts: UsersCommandParts,
): Promise<void> {
  const { cost, maxCost } = authentication.passwordHash;
  switch (request.action) {
    case 'list':
      return operator.list();
    case 'create': {
      const hash = await readHash(cost, parts, { mayBeEmpty: true });
      return operator.create({ ...request, hash });
    }
    case 'disable':
      return operator.setState(request.name, 'Disabled', 'disabled by an operator');
    case 'enable':
      return operator.setState(request.name, 'Active', 'enabled by an operator');
    case 'unlock':
      return operator.unlock(request.name);
    case 'set-password':
      return operator.setPassword(request.name, (await readHash(cost, parts, { mayBeEmpty: false })) ?? '');
    case 'import': {
      const content = parseUsersFile(parts.readFile(request.file), { platform, maxHashCost: maxCost });
      if ('problems' in content) throw new UsersFileError(request.file, content.problems);
      return operator.import(content.users, request.isApplied);
    }
    default:
      return request satisfies never;
  }
}

/** Reads a password and hashes it. `undefined`: it is empty and `mayBeEmpty`. The error messages never quote it. */
async function readHash(
  cost: number,
  { readPassword }: UsersCommandParts,
  { mayBeEmpty }: { readonly mayBeEmpty: boolean },
): Promise<string | undefined> {
  const input = await readPassword();
  if (mayBeEmpty && input.toString().trim() === '') return undefined;
  const read = readNewPassword(input);
  if ('fault' in read) throw new UserRequestError(read.fault);
  const faults = passwordFaults('the password', read.password);
  if (faults.length > 0)
    throw new UserRequestError(faults.map(({ field, message }) => `${field}: ${message}`).join('; '));
  return hashPassword(read.password, cost);
}

function createOperator(config: Config, cluster: Cluster, { clock, print }: UsersCommandParts): UserOperator {
  const names = accountNames(config.platform);
  const { objects, patchStatus, bindings } = accountCollections(names, cluster);
  return new UserOperator({
    names,
    reservedNames: new Set(config.accounts.reservedNames),
    objects,
    patchStatus,
    bindings,
    roles: cluster.objects(CLUSTER_ROLES),
    setPassword:
      config.accounts.passwordStore === 'userObject'
        ? async ({ name, uid }, password) => void (await objects.patch(name, { metadata: { uid }, spec: { password } }))
        : (owner, hash) => storeHash(owner, hash, config.platform, cluster),
    clock,
    print,
  });
}

/** Stores the hash in the Secret of the user's password, which the running servers mirror. */
async function storeHash(
  { name, uid }: PasswordOwner,
  hash: string,
  platform: string,
  { objects, namespace }: Pick<Cluster, 'objects' | 'namespace'>,
): Promise<void> {
  const secrets = objects({ group: '', version: 'v1', resource: 'secrets', kind: 'Secret', namespace });
  const secret = passwordSecretName(passwordPrefix(platform), name);
  const fields = Object.entries(encodePassword({ user: name, uid, hash }));
  const data = Object.fromEntries(fields.map(([key, bytes]) => [key, bytes.toString('base64')]));
  const labels = { 'app.kubernetes.io/managed-by': 'gatehouse', ...passwordLabels(platform) };
  if (await secrets.get(secret)) await secrets.patch(secret, { data });
  else
    await secrets.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: secret, labels },
      type: 'Opaque',
      data,
    });
}
