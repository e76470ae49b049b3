import { isClusterOwn } from './user.ts';

/**
 * DNS-1123 labels joined by dots, as Kubernetes names its objects. Names have at most 253 characters, so matching stays
 * fast.
 */
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LONGEST_NAME = 253;

/** Printable ASCII around one `@`; RFC 5321 4.5.3.1.3 leaves 254 characters for an address. */
const EMAIL = /^[!-?A-~]+@[!-?A-~]+$/;
const LONGEST_EMAIL = 254;

/**
 * Names of Kubernetes' own administrators, and what starts with `system:` or `kubeadm:`: a user with such a name would
 * inherit role bindings that were meant for somebody else.
 */
const RESERVED = new Set(['kubernetes-admin', 'kubernetes-super-admin', 'kube-admin']);

/** An ASCII DNS-1123 subdomain of at most 253 characters. */
export const isUserName = (text: string): boolean => text.length <= LONGEST_NAME && SUBDOMAIN.test(text);

export const isEmail = (text: string): boolean => text.length <= LONGEST_EMAIL && EMAIL.test(text);

/** Names that nobody can sign in as, whatever a source of users says. */
export const isReservedName = (name: string): boolean => RESERVED.has(name) || isClusterOwn(name);
