import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ControlPlane } from '../support/control-plane.ts';
import { served } from './served.ts';

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');

export const NAMESPACE = 'gatehouse-system';

/** Exactly the rights that the installation gives. The role for Secrets depends on where sessions are kept. */
const RIGHTS = [
  ...['clusterrole', 'clusterrolebinding', 'rolebinding'],
  ...['administrators-clusterrole', 'administrators-clusterrolebinding'],
].map((name) => join(DEPLOY, `${name}.yaml`));

/** The arguments of one kubectl for all these files, because each process of it costs more than what it does. */
const named = (...files: readonly string[]): string[] => files.flatMap((file) => ['-f', file]);

const ROLES = {
  kubernetes: join(DEPLOY, 'role.yaml'),
  /** As the chart renders it, which a test of the chart tier compares. */
  memory: join(import.meta.dirname, 'memory-sessions-role.yaml'),
} as const;

const ACCOUNT = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'gatehouse', namespace: NAMESPACE } },
  ],
});

/** Creates namespace, service account and rights, as far as they are missing. Answers a token of the account. */
export async function install({ kubectl, serviceAccountToken }: ControlPlane, sessions: keyof typeof ROLES) {
  await kubectl(['apply', '-f', '-', ...named(...RIGHTS, ROLES[sessions])], ACCOUNT);
  return serviceAccountToken(NAMESPACE, 'gatehouse');
}

const ACCOUNTS = join(DEPLOY, 'accounts');
const OF_THE_POD = ['kustomization.yaml', 'config.yaml', 'deployment.yaml'];

/**
 * What the installation has for accounts besides: definitions, roles, rights, policy. Resolves when the definitions are
 * served; the policy counts a moment later.
 */
export async function installAccounts(cluster: ControlPlane): Promise<void> {
  const names = readdirSync(ACCOUNTS).filter((name) => !OF_THE_POD.includes(name));
  await cluster.kubectl(['apply', ...named(...names.map((name) => join(ACCOUNTS, name)))]);
  await served(cluster, 'users.iam.gatehouse.io', 'loginrecords.iam.gatehouse.io');
}

/** The right to act as those whom `deploy/gateway` names. */
export async function installGateway({ kubectl }: ControlPlane): Promise<void> {
  const names = ['clusterrole', 'clusterrolebinding'];
  await kubectl(['apply', ...named(...names.map((name) => join(DEPLOY, 'gateway', `gateway-${name}.yaml`)))]);
}
