import { z } from 'zod';
import { countBetween, path, section, textLike } from './fields.ts';

/** The name of a label (docs of Prometheus, "Data model"). */
const label = (name: string) =>
  textLike(/^[a-zA-Z_][a-zA-Z0-9_]{0,99}$/, 'the name of a label: letters, digits and "_", at most 100').default(name);

const SEARCH_VERSIONS = ['', '6', '7', '8', '9', 'opensearchv1', 'opensearchv2', 'opensearchv3'] as const;

const indexPrefix = (usual: string) =>
  textLike(
    /^[a-z0-9][a-z0-9._-]{0,99}$/,
    'the beginning of an index name: lower-case letters, digits, ".", "_" and "-", at most 100',
  )
    .default(usual)
    .describe('The beginning of the names of the indices; `-YYYY.MM.DD`, a day in UTC, follows.');

/** How Gatehouse reaches a store. If KubeSphere 3.4 has one of these settings, it has the same name here. */
const storeSettings = (name: string) => ({
  host: textLike(/^https?:\/\/[^\s/?#@]+(\/[^\s?#@]*)?$/, 'an address such as "https://opensearch.logging:9200"')
    .optional()
    .describe(`The address of the store of ${name}. Default: none, and queries of ${name} are answered 404.`),
  username: z.string().min(1).optional().describe('The user at the store. Default: requests have no credentials.'),
  passwordFile: path.optional().describe('The file with the password. It is read again when it changes.'),
  caFile: path
    .optional()
    .describe(
      'The CA certificates, in PEM, that Gatehouse trusts for the store. It reads them again when they change. Default: those that Node.js trusts.',
    ),
  insecureSkipTLSVerify: z
    .boolean()
    .default(false)
    .describe(
      `Whether any certificate of the store is accepted. Anybody on the way to the store can then read and change ${name}.`,
    ),
});

const version = z
  .enum(SEARCH_VERSIONS)
  .default('')
  .describe(
    'What the store is: Elasticsearch `6`, `7`, `8`, `9`, `opensearchv1`, `opensearchv2`, `opensearchv3`; empty: Gatehouse asks the store.',
  );

const versionWithLoki = z
  .enum([...SEARCH_VERSIONS, 'loki'])
  .default('')
  .describe(
    'What the store is: Elasticsearch `6`, `7`, `8`, `9`, `opensearchv1`, `opensearchv2`, `opensearchv3`, `loki`; empty: Gatehouse asks the store.',
  );

const lokiTenant = textLike(
  /^[A-Za-z0-9!._*'()|-]{1,150}$/,
  'a tenant of Loki: letters, digits and "!-_.*\'()|", at most 150',
)
  .optional()
  .describe('Loki: the tenant (`X-Scope-OrgID`). Default: requests name none.');

/** Where container logs are found. */
export const logging = section({
  ...storeSettings('logs'),
  version: versionWithLoki,
  indexPrefix: indexPrefix('ks-logstash-log'),
  lokiNamespaceLabel: label('namespace').describe('Loki: the label with the name of the namespace.'),
  lokiPodLabel: label('pod').describe('Loki: the label with the name of the pod.'),
  lokiContainerLabel: label('container').describe('Loki: the label with the name of the container.'),
  lokiTenant: textLike(
    /^[A-Za-z0-9!._*'()|-]{1,150}$/,
    'a tenant of Loki: letters, digits and "!-_.*\'()|", at most 150',
  )
    .optional()
    .describe('Loki: the tenant (`X-Scope-OrgID`). Default: requests name none.'),
  exportLogsLimit: countBetween(1, 10_000_000).default(100_000).describe('The most messages in one export.'),
}).describe('The log store that log queries are answered from.');

/** Where events of the cluster are found. */
export const events = section({
  ...storeSettings('events'),
  version: versionWithLoki,
  indexPrefix: indexPrefix('ks-logstash-events'),
  lokiTenant,
  live: z
    .boolean()
    .optional()
    .describe(
      'Whether queries without a store are answered from the events that the cluster still has, usually those of the last hour. It needs `kinds.enabled`. Default: as `kinds.events`.',
    ),
}).describe('The store that queries of events are answered from.');

/** Where audit records are found. */
export const auditing = section({
  ...storeSettings('audit records'),
  version,
  indexPrefix: indexPrefix('ks-logstash-auditing'),
  rightOfEvents: z
    .boolean()
    .default(false)
    .describe(
      'Whether the right to list `events` is enough to read audit records, as in KubeSphere 3.4. By default it is the right to list `auditevents` in `tenant.<platform>.io`.',
    ),
}).describe('The store that queries of audit records are answered from.');
