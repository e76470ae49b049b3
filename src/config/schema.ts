import { z } from 'zod';
import { authentication } from './authentication-section.ts';
import { dnsLabel, duration, objectName, path, section, textLike } from './fields.ts';
import { limits, log, server } from './server-section.ts';

const firstAdministrator = z
  .union([
    z.literal(false),
    z.strictObject({
      name: textLike(
        /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/,
        'a user name: lower-case letters, digits, "-" and ".", at most 63',
      )
        .default('admin')
        .describe('Its name.'),
      groups: z.array(z.string().min(1)).optional().describe('Its groups. Default: `[<platform>-admins]`.'),
      secretName: objectName
        .optional()
        .describe('The Secret with its password. Default: `<platform>-first-administrator`.'),
    }),
  ])
  .optional()
  .describe(
    'A first user, whose random password is created once and kept in a Secret. `false`: none. Default: one in a cluster, none elsewhere.',
  );

/**
 * A watch of a healthy cluster may be silent for 75 s, and the next one has 30 s to be accepted (`attempt.ts`). With 15
 * s to spare that is 2 min. With a lower limit, calls would now and then be refused although nothing is wrong. It is
 * also the age at which the log warns and docs/operations.md alerts, which must come before a refusal.
 */
const LEAST_STALENESS_MS = 120_000;

/** Checks come 5 to 7.5 min apart at first. */
const LEAST_CHECK_PERIOD_MS = 450_000;

/**
 * The one configuration file. Every key has a default; an unknown key is an error. The names under `authentication` are
 * those of KubeSphere 3.4 where it has them.
 */
export const configSchema = z
  .strictObject({
    platform: dnsLabel
      .default('gatehouse')
      .describe(
        'Names the API groups (`resources.<platform>.io`), annotations, the realm and the default OAuth client. `kubesphere` for clients of KubeSphere.',
      ),
    server,
    limits,
    cors: section({
      origins: z
        .array(textLike(/^https?:\/\/[^/*]+$/, 'an origin such as "https://console.example.com"'))
        .default([])
        .describe('Origins that browsers may call from; never "*".'),
    }).describe('Browsers of other origins.'),
    kubernetes: section({
      kubeconfig: path
        .optional()
        .describe('Where the cluster is. Default: in-cluster credentials, else `KUBECONFIG`, else `~/.kube/config`.'),
      namespace: dnsLabel
        .optional()
        .describe('The namespace of Gatehouse’s Secrets. Default: the pod’s, else the context’s, else `default`.'),
    }).describe('The cluster that is served.'),
    authentication,
    authorization: section({
      mode: z
        .enum(['RBAC', 'AlwaysAllow'])
        .default('RBAC')
        .describe('`RBAC` asks the cluster by SubjectAccessReview; `AlwaysAllow` is for demonstrations.'),
      maxStaleness: duration({
        minMs: LEAST_STALENESS_MS,
        bounds: 'at least 2m: a healthy watch may be silent for 75s',
      })
        .prefault('10m')
        .describe(
          'How old decisions on access, sessions, signing keys and the first administrator may be while the cluster cannot be asked; then 503. `12m` covers a whole outage of ten minutes.',
        ),
    }).describe('Who may do what.'),
    users: section({
      file: path
        .optional()
        .describe(
          'The users file. It is read again when it changes, so a change needs no restart. Default: no users but the first administrator.',
        ),
      firstAdministrator,
    }).describe('Who may sign in.'),
    sessions: section({
      store: z
        .enum(['memory', 'kubernetes'])
        .default('memory')
        .describe(
          '`memory`: for a single replica; `kubernetes`: one Secret per user who refreshed or ended a session, for any number of replicas.',
        ),
    }).describe('The sessions that sign-ins begin.'),
    nodes: section({
      usage: z.boolean().default(true).describe('`false`: no pod watch and no usage annotations.'),
      maxStaleness: duration({
        minMs: LEAST_STALENESS_MS,
        orNone: true,
        bounds: 'none, or at least 2m: a healthy watch may be silent for 75s',
      })
        .prefault('12m')
        .describe('How old nodes and pods may be while the cluster cannot be followed; then 503. `none`: no limit.'),
      selfCheck: section({
        longestPeriod: duration({ minMs: LEAST_CHECK_PERIOD_MS, bounds: 'at least 7m30s' })
          .prefault('1h')
          .describe(
            'Above 20,000 nodes or pods, each comparison with the cluster that finds no difference doubles the wait for the next one, up to this.',
          ),
        pods: z
          .enum(['auto', 'always', 'never'])
          .default('auto')
          .describe(
            'Whether pods are compared with the cluster regularly. `auto`: not where the API server checks its own cache (Kubernetes 1.34 and later).',
          ),
      }),
    }).describe('The mirror of the cluster’s nodes.'),
    keys: section({
      secretName: objectName
        .optional()
        .describe('The Secret with the signing keys, which the program creates. Default: `<platform>-signing-keys`.'),
    }).describe('The signing keys.'),
    log,
  })
  .meta({ title: 'Gatehouse configuration' });

/** The file as written, after defaults: durations in milliseconds. */
export type FileConfig = z.output<typeof configSchema>;
