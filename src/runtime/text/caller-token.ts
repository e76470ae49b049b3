/** b64token of RFC 6750 2.1, at most as long as any bearer that we read. */
const CALLER_TOKEN = /^[A-Za-z0-9\-._~+/]{1,8192}=*$/;

/**
 * The bearer in the text of a file, without the white space that editors leave around it. `undefined` when there is
 * none, or when no `Authorization` header can carry the text.
 */
export function parseCallerToken(text: string): string | undefined {
  const token = text.trim();
  return CALLER_TOKEN.test(token) ? token : undefined;
}
