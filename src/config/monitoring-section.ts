import { z } from 'zod';
import { path, section, textLike } from './fields.ts';

/** Where the metrics of nodes and cluster are found. The settings beside the address have the names of those of `logging`. */
export const monitoring = section({
  prometheus: textLike(
    /^https?:\/\/[^\s/?#@]+(\/[^\s?#@]*)?$/,
    'an address such as "http://prometheus.monitoring:9090"',
  )
    .optional()
    .describe(
      'The address of a Prometheus, or of what has its HTTP API. Default: none, and the console of KubeSphere shows no curves.',
    ),
  username: z.string().min(1).optional().describe('The user at Prometheus. Default: requests have no user.'),
  passwordFile: path.optional().describe('The file with the password. It is read again when it changes.'),
  tokenFile: path
    .optional()
    .describe('The file with a bearer token, in place of a user. It is read again when it changes. Default: none.'),
  caFile: path
    .optional()
    .describe(
      'The CA certificates, in PEM, that Gatehouse trusts for Prometheus. It reads them again when they change. Default: those that Node.js trusts.',
    ),
  insecureSkipTLSVerify: z
    .boolean()
    .default(false)
    .describe(
      'Whether any certificate of Prometheus is accepted. Anybody on the way to Prometheus can then read and change metrics.',
    ),
}).describe('The Prometheus that the metrics of nodes and cluster come from.');
