import { z } from 'zod';
import { countBetween, path, section, textLike } from './fields.ts';

/** The name of a label (docs of Prometheus, "Data model"). */
const label = (name: string) =>
  textLike(/^[a-zA-Z_][a-zA-Z0-9_]{0,99}$/, 'the name of a label: letters, digits and "_", at most 100').default(name);

/** Where container logs are found. If KubeSphere 3.4 has one of these settings, it has the same name here. */
export const logging = section({
  host: textLike(/^https?:\/\/[^\s/?#@]+(\/[^\s?#@]*)?$/, 'an address such as "https://opensearch.logging:9200"')
    .optional()
    .describe('The address of the log store. Default: none, and log queries are answered 404.'),
  version: z
    .enum(['', '6', '7', '8', '9', 'opensearchv1', 'opensearchv2', 'opensearchv3', 'loki'])
    .default('')
    .describe(
      'What the store is: Elasticsearch `6`, `7`, `8`, `9`, `opensearchv1`, `opensearchv2`, `opensearchv3`, `loki`; empty: Gatehouse asks the store.',
    ),
  indexPrefix: textLike(
    /^[a-z0-9][a-z0-9._-]{0,99}$/,
    'the beginning of an index name: lower-case letters, digits, ".", "_" and "-", at most 100',
  )
    .default('ks-logstash-log')
    .describe('The beginning of the names of the indices; `-YYYY.MM.DD`, a day in UTC, follows.'),
  lokiNamespaceLabel: label('namespace').describe('Loki: the label with the name of the namespace.'),
  lokiPodLabel: label('pod').describe('Loki: the label with the name of the pod.'),
  lokiContainerLabel: label('container').describe('Loki: the label with the name of the container.'),
  lokiTenant: textLike(
    /^[A-Za-z0-9!._*'()|-]{1,150}$/,
    'a tenant of Loki: letters, digits and "!-_.*\'()|", at most 150',
  )
    .optional()
    .describe('Loki: the tenant (`X-Scope-OrgID`). Default: requests name none.'),
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
      'Whether any certificate of the store is accepted. Anybody on the way to the store can then read and change logs.',
    ),
  exportLogsLimit: countBetween(1, 10_000_000).default(100_000).describe('The most messages in one export.'),
}).describe('The log store that log queries are answered from.');
