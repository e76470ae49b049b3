import { z } from 'zod';
import { duration, memory, section, textLike } from './fields.ts';

/** Below this, kinds that a page asks for every few seconds would be read again and again. */
const LEAST_IDLE_MS = 10_000;

const DNS_NAME = '[a-z0-9]([a-z0-9-]*[a-z0-9])?';

/**
 * A pattern that `src/kinds/kind-patterns.ts` understands. A plural alone is refused, because it would be a guess: `clusters` could mean the
 * core group, which has no clusters, or every group.
 */
const kindPattern = textLike(
  new RegExp(`^(\\*|(\\*|${DNS_NAME})\\.(\\*|(${DNS_NAME}(\\.${DNS_NAME})*)?))$`),
  'resource.group with "*" for either: "deployments.apps", "pods." (the core group), "pods.*" (every group), "*.example.com", or "*"',
);

const kindPatterns = (...usual: readonly string[]) => z.array(kindPattern).default([...usual]);

export const kinds = section({
  enabled: z
    .boolean()
    .default(true)
    .describe(
      'Whether all kinds of the cluster are listed. `false`: nodes and namespaces only, and with `accounts.enabled` the kinds of accounts.',
    ),
  idle: duration({ minMs: LEAST_IDLE_MS, bounds: 'at least 10s' })
    .prefault('10m')
    .describe('How long a kind stays in memory after its last request or watch.'),
  memory: memory
    .optional()
    .describe(
      'The most memory for all of these kinds together. A kind that would pass it is held with fewer fields, and refused with 503 if that is too much as well. Default: what nodes, namespaces and accounts leave of the container’s memory limit, at most 256Mi.',
    ),
  allow: kindPatterns('*').describe(
    'The kinds that are listed, as `resource.group`: `deployments.apps`, `pods.` for the core group, `pods.*` for every group, `*.example.com` for every resource of a group, `*` for all.',
  ),
  deny: kindPatterns('clusters.cluster.kubesphere.io', 'federatedsecrets.types.kubefed.io').describe(
    'The kinds that are not listed, in the same form, even if `kinds.allow` names them. A list of your own replaces the default, which has the kinds of KubeSphere 3.4 with a kubeconfig, or with the data of Secrets, in their objects: repeat them where these kinds exist.',
  ),
  secrets: z
    .enum(['none', 'metadata'])
    .default('none')
    .describe(
      'What is served of Secrets. `none`: nothing; `metadata`: name, labels, annotations and type, to callers who may list them; never data. For `metadata` Gatehouse needs the right to read Secrets.',
    ),
  events: z
    .boolean()
    .default(false)
    .describe('Whether events are listed, of the core group and of `events.k8s.io`. A busy cluster writes many.'),
}).describe('The lists of every kind of the cluster. Nodes, namespaces and accounts have no setting here.');
