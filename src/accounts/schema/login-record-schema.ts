import { z } from 'zod';
import { clusterRules, freeText } from './fields.ts';

const metadata = z.looseObject({ name: z.string() }).meta({
  description: 'The name is <user>-<random>; the label user-ref tells whose sign-in it was.',
});

const spec = z
  .object({
    type: freeText(64, 'How it was tried: Token.'),
    provider: freeText(253, 'The identity provider; empty for users of this cluster.').optional(),
    success: z.boolean().meta({ description: 'Whether it was let in.' }),
    reason: freeText(1024, 'Why; a record that stands for several attempts ends with their number.').optional(),
    // An IPv6 address with a zone has up to 61 characters.
    sourceIP: freeText(64, 'The address that it came from.').optional(),
    userAgent: freeText(256, 'What the client called itself.').optional(),
  })
  .meta({
    description: 'What happened. It is never changed.',
    ...clusterRules({ rule: 'self == oldSelf', message: 'a login record is never changed' }),
  });

/** One sign-in, or several failed ones, as the cluster checks it (docs/contract/accounts.md, section 8). */
export const loginRecordSchema = z
  .object({ apiVersion: z.string(), kind: z.literal('LoginRecord'), metadata, spec })
  .meta({ description: 'A sign-in of a user.' });

export type LoginRecord = z.infer<typeof loginRecordSchema>;
