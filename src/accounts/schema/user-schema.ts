import { z } from 'zod';
import { fitsHeader } from '../../runtime/text/header-text.ts';
import { isClusterOwn, isEmail, isReservedName, isUserName, RESERVED_NAMES, USER_STATES } from '../../users/user.ts';
import { clusterRules, freeText, instant } from './fields.ts';
import { LONGEST_GROUP, LONGEST_NAME, LONGEST_TEXT, MOST_GROUPS } from './limits.ts';

/** RFC 5321, 4.5.3.1.3. */
const LONGEST_EMAIL = 254;

/** Accepts the empty text, and what `isEmail` accepts. */
const EMAIL_OR_EMPTY = /^([!-?A-~]+@[!-?A-~]+)?$/;
const AN_EMAIL = 'must be empty or one e-mail address in ASCII';

const IS_RESERVED = 'is reserved: Kubernetes has an administrator of that name';
/** Every call through the gateway carries the group in a header. */
const FITS_A_HEADER = 'must not begin or end with a blank';
const NOT_OF_THE_CLUSTER = 'must not begin with "system:" or "kubeadm:", which belong to Kubernetes';

const metadata = z
  .looseObject({
    name: z
      .string()
      .max(LONGEST_NAME)
      .refine(isUserName, 'must be a DNS-1123 subdomain')
      .refine((name) => !isReservedName(name), IS_RESERVED)
      .meta({ not: { enum: RESERVED_NAMES } }),
  })
  .meta({ description: 'The name is that with which the user signs in.' });

const group = freeText(LONGEST_GROUP, 'The name of a group.', [
  { rule: "!self.startsWith('system:') && !self.startsWith('kubeadm:')", message: NOT_OF_THE_CLUSTER },
  { rule: "!self.startsWith(' ') && !self.endsWith(' ')", message: FITS_A_HEADER },
])
  .min(1)
  .refine((name) => !isClusterOwn(name), NOT_OF_THE_CLUSTER)
  .refine(fitsHeader, FITS_A_HEADER)
  .meta({ not: { pattern: '^(system|kubeadm):|^ | $' } });

const spec = z
  .object({
    email: z
      .string()
      .max(LONGEST_EMAIL)
      .refine((text) => text === '' || isEmail(text), AN_EMAIL)
      .meta({
        description: 'One ASCII address, unique without regard to case; empty for none.',
        pattern: EMAIL_OR_EMPTY.source,
        ...clusterRules({ rule: `self.matches('${EMAIL_OR_EMPTY.source}')`, message: AN_EMAIL }),
      }),
    lang: freeText(LONGEST_TEXT, 'The language of the user, as a tag of BCP 47.').optional(),
    displayName: freeText(LONGEST_TEXT, 'The name as people write it.').optional(),
    description: freeText(LONGEST_TEXT, 'What is worth knowing about the user.').optional(),
    groups: z
      .array(group)
      .max(MOST_GROUPS)
      .refine((groups) => new Set(groups).size === groups.length, 'must have no group twice')
      .meta({
        description: 'The groups of the user. They count in every decision on rights.',
        'x-kubernetes-list-type': 'set',
      })
      .optional(),
  })
  .meta({ description: 'What people and managers say about the user.' });

const status = z
  .object({
    state: z
      .enum(['', ...USER_STATES])
      .meta({ description: 'Whether the user may sign in. AuthLimitExceeded: not for now, after too many failures.' })
      .optional(),
    reason: freeText(1024, 'Why the state is what it is.').optional(),
    lastTransitionTime: instant('When the state changed last.').optional(),
    lastLoginTime: instant('When the user signed in last; at most one write in 5 minutes.').optional(),
  })
  .meta({ description: 'What Gatehouse says about the user.' });

/**
 * A user, as the cluster checks one (docs/contract/accounts.md, sections 3 and 4). There is no `spec.password`: the
 * cluster drops members that it does not know.
 */
export const userSchema = z
  .object({ apiVersion: z.string(), kind: z.literal('User'), metadata, spec, status: status.optional() })
  .meta({
    description: 'A person who may sign in.',
    ...clusterRules({
      // Checked at a create only: an existing object must stay changeable, or nobody could remove its finalizer.
      rule: `oldSelf.hasValue() || !(self.metadata.name in [${RESERVED_NAMES.map((name) => `'${name}'`).join(', ')}])`,
      message: IS_RESERVED,
      fieldPath: '.metadata.name',
      optionalOldSelf: true,
    }),
  });

export type UserObject = z.infer<typeof userSchema>;
