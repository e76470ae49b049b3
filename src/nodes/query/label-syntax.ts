/** The Kubernetes limits on labels: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/ (syntax and character set). */
const LONGEST_NAME = 63;
const LONGEST_PREFIX = 253;

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;

// Lengths are checked before the patterns, so that a pattern never sees more than 253 characters.
const isName = (text: string): boolean => text.length <= LONGEST_NAME && NAME.test(text);
const isPrefix = (text: string): boolean => text.length <= LONGEST_PREFIX && SUBDOMAIN.test(text);

/** `[prefix/]name`. */
export function isLabelKey(text: string): boolean {
  const slash = text.indexOf('/');
  return slash < 0 ? isName(text) : isPrefix(text.slice(0, slash)) && isName(text.slice(slash + 1));
}

/** Empty, or like a name. */
export const isLabelValue = (text: string): boolean => text === '' || isName(text);
