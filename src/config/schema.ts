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
    'A first user, whose random password is made once and kept in a Secret. `false`: none. Default: one in a cluster, none elsewhere.',
  );

/**
 * A watch of a healthy cluster may be silent for 75 s, and the one that follows has 30 s to be accepted (`attempt.ts`). With 15 s
 * to spare that is 2 min: a lower limit would refuse calls now and then though nothing is wrong. It is also the age that the
 * log tells of and that docs/operations.md alerts on, which must come before a refusal.
 */
const LEAST_STALENESS_MS = 120_000;

/** Checks come after 5 to 7.5 min at first. */
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
        .describe('Where our Secrets live. Default: the pod’s, else the context’s, else `default`.'),
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
          'How old decisions on access, sessions, signing keys and the first administrator may be while the cluster cannot be asked; then 503. `12m` bridges an outage of ten minutes whole.',
        ),
    }).describe('Who may do what.'),
    users: section({
      file: path
        .optional()
        .describe(
          'The users file, followed: a change needs no restart. Default: no users but the first administrator.',
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
    }).describe('What sign-ins began.'),
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
            'More than 20,000 nodes or pods are compared with the cluster the more seldom the longer they agree: after so long at most.',
          ),
        pods: z
          .enum(['auto', 'always', 'never'])
          .default('auto')
          .describe(
            'Whether pods are compared regularly. `auto`: not where the API server checks its own cache (Kubernetes 1.34 and later).',
          ),
      }),
    }).describe('The mirror of the cluster’s nodes.'),
    keys: section({
      secretName: objectName
        .optional()
        .describe('The Secret with the signing keys, which the program makes. Default: `<platform>-signing-keys`.'),
    }).describe('The signing keys.'),
    log,
  })
  .meta({ title: 'Gatehouse configuration' });

/** The file as written, after defaults: durations in milliseconds. */
export type FileConfig = z.output<typeof configSchema>;
