/**
 * The characters that RFC 3986 allows in a URI as it is sent, without `*` and `#`, which have messages of their own.
 */
const AS_SENT = /^[A-Za-z0-9._~:/?[\]@!$&'()+,;=%-]*$/;

/** The authority must be written out: URL parsers read `https:host`, `https:///host` and `https:\\host` the same. */
const WITH_AUTHORITY = /^https?:\/\/([^/?#]+)/i;

/**
 * What is wrong with the address of a page that a sign-out may redirect to; `undefined` when it is fine. It is sent
 * unchanged in a `Location`, so all readers must read it the same way: http or https, never a scheme that runs in the
 * page before it (`javascript:`), no fragment (RFC 6749 3.1.2), no name or password, no wildcard.
 */
export function redirectURIFault(text: string): string | undefined {
  if (text.includes('*')) return 'must be one address: wildcards are not allowed';
  if (text.includes('#')) return 'must have no fragment';
  if (!AS_SENT.test(text))
    return 'must be written as it is sent: no blank, backslash or control character, others percent-encoded';
  if (/%(?![0-9a-f]{2})/i.test(text)) return 'must have two hexadecimal digits after each "%"';
  const [, authority] = WITH_AUTHORITY.exec(text) ?? [];
  if (authority === undefined || !URL.canParse(text))
    return 'expected an absolute http or https URL, such as "https://console.example.com/"';
  return authority.includes('@') ? 'must not carry credentials' : undefined;
}
