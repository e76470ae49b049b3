import { z } from 'zod';
import { section, textLike } from './fields.ts';

/** The longest label value and name part that Kubernetes allows. */
const LONGEST_LABEL = 63;

const labelValue = textLike(
  /^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$/,
  'a label value: letters, digits, "-", "_" and ".", at most 63',
).max(LONGEST_LABEL);

const labelKey = textLike(
  /^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/,
  'a label key, such as "example.com/kubectl"',
);

const requirement = z
  .strictObject({
    key: labelKey.describe('The label.'),
    operator: z
      .enum(['In', 'NotIn', 'Exists', 'DoesNotExist'])
      .describe('What the label has to fulfil. A user without the label fulfils `NotIn`.'),
    values: z.array(labelValue).default([]).describe('The values for `In` and `NotIn`.'),
  })
  .refine(({ operator, values }) => operator.endsWith('In') === values.length > 0, {
    path: ['values'],
    message: 'must have a value with In and NotIn, and none with Exists and DoesNotExist',
  })
  .describe('A requirement as in a label selector of Kubernetes.');

/** Whether the cluster gives the name no meaning of its own. */
const isNobodysOwn = (name: string): boolean => !/^(system|kubeadm):/.test(name);

const accounts = section({
  enabled: z
    .boolean()
    .default(false)
    .describe(
      'Whether Gatehouse keeps the ClusterRoles that say whom it may impersonate equal to the User objects that are chosen here. Needs `accounts.enabled`.',
    ),
  selector: section({
    matchLabels: z.record(labelKey, labelValue).default({}).describe('Labels that a User object must have.'),
    matchExpressions: z
      .array(requirement)
      .default([])
      .describe('Requirements on its labels: `key`, `operator`, `values`.'),
  }).describe(
    'Chooses User objects by their labels, as a label selector of Kubernetes. Default: all. To add such a label to a user, a caller needs the right to `update` `users/gateway`.',
  ),
  roles: z
    .array(z.string().min(1))
    .default([])
    .describe('Only users with one of these platform roles are chosen. Default: users with any role, or none.'),
  groups: z
    .array(
      textLike(/^[^*]+\*?$/, 'the name of a group, or a prefix that ends with "*"').refine(
        isNobodysOwn,
        'is one of the cluster’s own',
      ),
    )
    .default([])
    .describe('The groups of these users that Gatehouse may impersonate: names, and prefixes such as `team-*`.'),
  clusterRoles: z
    .array(z.string().min(1))
    .default([])
    .describe('The ClusterRoles that Gatehouse writes the names into, 1,000 in each. The chart makes them.'),
  constrainedImpersonation: z
    .boolean()
    .default(false)
    .describe('Whether these ClusterRoles have the verbs of constrained impersonation (Kubernetes 1.36).'),
}).describe('Users who may use the gateway because their User objects say so.');

export const gateway = section({
  enabled: z
    .boolean()
    .default(false)
    .describe(
      'Whether `/api`, `/apis`, `/openapi/v2` and `/openapi/v3` are passed on to the cluster, as the user who is signed in. Gatehouse needs the right to impersonate these users and their groups.',
    ),
  allowProxySubresources: z
    .boolean()
    .default(false)
    .describe(
      'Whether calls that lead through the cluster to other servers are passed on: `proxy` of nodes, pods, services and aggregated groups, and upgraded connections of aggregated groups, like the console of a virtual machine. Web pages that are served this way run on the origin of this server.',
    ),
  impersonation: z
    .enum(['refuse', 'honour'])
    .default('refuse')
    .describe(
      'What happens to a call with `Impersonate-*` headers (`kubectl --as`). `refuse`: 403; `honour`: Gatehouse makes the call as the user and groups in these headers, if the cluster lets the caller impersonate each of them.',
    ),
  rejectImpersonation: z
    .boolean()
    .optional()
    .describe('`true` is the old name of `impersonation: refuse`. `false` is refused: the headers are never ignored.'),
  unknownGroups: z
    .enum(['refuse', 'drop'])
    .default('refuse')
    .describe(
      'What happens to the calls of a user in a group that this server may not impersonate. `refuse`: 403, which names the group; `drop`: Gatehouse passes the calls on without the group.',
    ),
  users: z
    .array(z.string().min(1))
    .optional()
    .describe(
      'The users who may use the gateway, by name; others get 403, except those of `gateway.accounts`. Default: everybody whom the cluster lets Gatehouse impersonate.',
    ),
  permittedLists: z
    .boolean()
    .default(false)
    .describe(
      'Whether a list or watch over all namespaces, or of `namespaces`, is answered over the namespaces in which the caller has the right to it, if the cluster refuses it over all (`kubectl get pods -A`). Gatehouse needs the right to list and watch these kinds itself. Secrets are never answered in this way.',
    ),
  accounts,
}).describe('The cluster’s own API, through this server.');
