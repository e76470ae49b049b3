import { z } from 'zod';
import { authentication } from './authentication-section.ts';
import { dnsLabel, objectName, path, section } from './fields.ts';
import { limits, log, server } from './server-section.ts';

const firstAdministrator = z
  .union([
    z.literal(false),
    z.strictObject({
      name: z
        .string()
        .regex(/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/, 'expected a user name: lower-case letters, digits, "-" and "."')
        .default('admin'),
      groups: z.array(z.string().min(1)).optional().describe('Default: [<platform>-admins].'),
      secretName: objectName.optional().describe('Default: <platform>-first-administrator.'),
    }),
  ])
  .optional()
  .describe(
    'A first user whose random password is made once and kept in a Secret. On in a cluster; false switches it off.',
  );

/**
 * The one configuration file. Every key has a default; an unknown key is an error. The names under `authentication` are
 * those of KubeSphere 3.4 where it has them.
 */
export const configSchema = z
  .strictObject({
    platform: dnsLabel
      .default('gatehouse')
      .describe('Names the API groups (resources.<platform>.io), annotations, the realm and the default OAuth client.'),
    server,
    limits,
    cors: section({
      origins: z
        .array(z.string().regex(/^https?:\/\/[^/*]+$/, 'expected an origin such as "https://console.example.com"'))
        .default([])
        .describe('Origins that browsers may call from; none by default, never "*".'),
    }),
    kubernetes: section({
      kubeconfig: path.optional().describe('Default: in-cluster credentials, else KUBECONFIG, else ~/.kube/config.'),
      namespace: dnsLabel
        .optional()
        .describe('Where our Secrets live. Default: the pod’s, else the context’s, else default.'),
    }),
    authentication,
    authorization: section({
      mode: z
        .enum(['RBAC', 'AlwaysAllow'])
        .default('RBAC')
        .describe('RBAC asks the cluster by SubjectAccessReview; AlwaysAllow is for demonstrations.'),
    }),
    users: section({ file: path.optional().describe('The users file.'), firstAdministrator }),
    sessions: section({
      store: z
        .enum(['memory', 'kubernetes'])
        .default('memory')
        .describe('memory: for a single replica; kubernetes: Secrets of our namespace, shared by all replicas.'),
    }),
    nodes: section({ usage: z.boolean().default(true).describe('false: no pod watch and no usage annotations.') }),
    keys: section({ secretName: objectName.optional().describe('Default: <platform>-signing-keys.') }),
    log,
  })
  .meta({ title: 'Gatehouse configuration' });

/** The file as written, after defaults: durations in milliseconds. */
export type FileConfig = z.output<typeof configSchema>;
