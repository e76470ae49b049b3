import { z } from 'zod';
import { path, section } from './fields.ts';

export const tokenReview = section({
  callerAuth: z
    .enum(['required', 'none'])
    .default('required')
    .describe(
      'Who may ask `POST /oauth/authenticate`. `required`: callers with the bearer or a client certificate named below; nobody when neither is set. `none`: everybody, as in KubeSphere 3.4.',
    ),
  callerTokenFile: path
    .optional()
    .describe('A file that holds the bearer of callers; read again when it changes. Blanks around it are ignored.'),
  clientCAFile: path
    .optional()
    .describe(
      'Certificates (PEM) of the authorities whose client certificates let callers in. Needs `server.tls` and `clientNames`.',
    ),
  clientNames: z
    .array(z.string().min(1, 'expected a name'))
    .min(1, 'expected at least one name')
    .optional()
    .describe(
      'The certificate holders that may ask: the common name, a DNS name or a URI of the client certificate, compared exactly. Needed with `clientCAFile`.',
    ),
});
