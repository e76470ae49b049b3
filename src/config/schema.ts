import { z } from 'zod';
import { fitsHeader } from '../runtime/text/header-text.ts';
import { authentication } from './authentication-section.ts';
import { dnsLabel, duration, objectName, path, port, section, textLike } from './fields.ts';
import { gateway } from './gateway-section.ts';
import { kinds } from './kinds-section.ts';
import { limits } from './limits-section.ts';
import { monitoring } from './monitoring-section.ts';
import { page } from './page-section.ts';
import { auditing, events, logging } from './store-sections.ts';
import { tenant } from './tenant-section.ts';

const server = section({
  address: z.string().min(1).optional().describe('Address to listen on. Default: all interfaces.'),
  port: port.default(9090).describe('Port of the API.'),
  metricsPort: port.default(9091).describe('Port of /metrics, different from `server.port`. It must not be published.'),
  shutdownDelay: duration()
    .prefault('0s')
    .describe(
      'How long the server goes on serving after SIGTERM while /readyz already fails, so that load balancers notice.',
    ),
  streamDrain: duration({ minMs: 0, maxMs: 3_600_000, bounds: 'at most 1h' })
    .prefault('60s')
    .describe(
      'How long followed logs, `exec`, `attach`, `port-forward` and `proxy` calls through the gateway go on after the port has closed. Then Gatehouse breaks those that are still open, in a way that their clients notice. Watches end within 10s.',
    ),
  tls: z
    .strictObject({
      certFile: path.describe('The certificate and its chain, in PEM.'),
      keyFile: path.describe('The unencrypted private key of the certificate, in PEM.'),
    })
    .optional()
    .describe(
      'Makes the API port and the metrics port speak HTTPS. The files are read again when they change, and so is `authentication.tokenReview.clientCAFile`: a change needs no restart. Default: plain HTTP.',
    ),
}).describe('The ports of the program.');

const logLevel = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info');

const log = section({
  level: logLevel.describe('The lowest level that is logged.'),
  auditLevel: logLevel.describe(
    'Level of the audit trail, independent of `log.level`: `info` logs everything, `warn` only refusals and alarms.',
  ),
  auditFormat: z
    .enum(['gatehouse', 'kubernetes'])
    .default('gatehouse')
    .describe(
      'The form of the audit trail. `gatehouse`: lines like those of the log. `kubernetes`: audit records of Kubernetes, which a collector can store so that the search of audit records finds them (docs/audit.md).',
    ),
  format: z.enum(['json', 'pretty']).default('json').describe('`json`: one object a line; `pretty`: for people.'),
}).describe('What is written to standard output.');

const firstAdministrator = z
  .union([
    z.literal(false),
    z.strictObject({
      name: textLike(
        /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/,
        'a user name: lower-case letters, digits, "-" and ".", at most 63',
      )
        .default('admin')
        .describe('The name of this user.'),
      groups: z
        .array(z.string().min(1).refine(fitsHeader, 'must have no control characters, and no blank at its ends'))
        .optional()
        .describe('The groups of this user. Default: `[<platform>-admins]`.'),
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
 * A watch of a healthy cluster may be silent for 75 s, and the next one has 30 s to be accepted (`attempt.ts`). With 15 s to spare
 * that is 2 min. With a lower limit, calls would now and then be refused although nothing is wrong. At 2 min the log also warns and
 * docs/operations/monitoring.md alerts, which must come before a refusal.
 */
const LEAST_STALENESS_MS = 120_000;

/** At first, 5 to 7.5 min pass between two comparisons with the cluster. */
const LEAST_CHECK_PERIOD_MS = 450_000;

/**
 * The one configuration file. Every key has a default; an unknown key is an error. If KubeSphere 3.4 has a setting of
 * `authentication`, it has the same name here.
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
    }).describe('Access for web pages of other origins.'),
    kubernetes: section({
      kubeconfig: path
        .optional()
        .describe(
          'The kubeconfig of the cluster. Default: in-cluster credentials, else `KUBECONFIG`, else `~/.kube/config`.',
        ),
      namespace: dnsLabel
        .optional()
        .describe('The namespace of Gatehouse’s Secrets. Default: the pod’s, else the context’s, else `default`.'),
      allowCredentialsOverHttp: z
        .boolean()
        .default(false)
        .describe(
          'Whether the kubeconfig’s credential may go to an `http://` server on another machine, where the network can read it. A client certificate never works there.',
        ),
    }).describe('The cluster that Gatehouse stands in front of.'),
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
          'How old decisions on access, sessions, signing keys and the first administrator may be while Gatehouse cannot ask the cluster; then 503. `12m` covers a whole outage of ten minutes.',
        ),
      shareQuestions: z
        .boolean()
        .optional()
        .describe(
          'Whether replicas share, in the Secret `<platform>-recent-questions`, what callers were allowed in the last ten minutes, so that each replica gets its own decisions on these from the cluster before an outage. Default: `true` if sessions are in Secrets.',
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
    accounts: section({
      enabled: z
        .boolean()
        .default(false)
        .describe(
          'Whether users are objects of the cluster, created and changed through the API. Needs the custom resources of the chart.',
        ),
      passwordStore: z
        .enum(['secret', 'userObject'])
        .default('secret')
        .describe(
          'Where the password hashes of User objects are stored. `secret`: one Secret per user in Gatehouse’s namespace; `userObject`: `spec.password`, for clusters where the controllers of KubeSphere 3.4 still run.',
        ),
      reservedNames: z
        .array(z.string().min(1))
        .default(['kubernetes-admin', 'kubernetes-super-admin', 'kube-admin'])
        .describe(
          'Names that no user can be created with, and that callers of the gateway must not have, in addition to names that begin with `system:` or `kubeadm:`.',
        ),
    }).describe('Users as objects of the cluster.'),
    gateway,
    logging,
    events,
    auditing,
    monitoring,
    page,
    sessions: section({
      store: z
        .enum(['memory', 'kubernetes'])
        .optional()
        .describe(
          '`kubernetes`: one Secret per user who refreshed or ended a session, for any number of replicas; kept over restarts. `memory`: for a single replica; a restart forgets which sessions were ended, and no session from before it can be refreshed. Default: `kubernetes` in a cluster, `memory` elsewhere.',
        ),
    }).describe('The records of sessions.'),
    nodes: section({
      usage: z.boolean().default(true).describe('`false`: no pod watch and no usage annotations.'),
      maxStaleness: duration({
        minMs: LEAST_STALENESS_MS,
        orNone: true,
        bounds: 'none, or at least 2m: a healthy watch may be silent for 75s',
      })
        .prefault('12m')
        .describe(
          'How old nodes and pods may be while Gatehouse cannot follow the cluster; then 503. `none`: no limit.',
        ),
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
    }).describe('The copy of the cluster’s nodes in memory.'),
    kinds,
    tenant,
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
