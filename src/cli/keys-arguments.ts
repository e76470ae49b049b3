/** An operator's request about the signing keys. */
export type KeysRequest =
  | { readonly action: 'list' }
  /** `isNow`: the next key signs at once, not 15 minutes after its publication. */
  | { readonly action: 'rotate'; readonly isNow: boolean }
  | { readonly action: 'revoke'; readonly kid: string };

/** Reads the arguments after `keys`; `isNow` says whether `--now` was given. */
export function parseKeysRequest(
  [action, ...more]: readonly string[],
  isNow: boolean,
): KeysRequest | { readonly fault: string } {
  const [kid, ...rest] = more;
  if (isNow && action !== 'rotate') return { fault: '--now goes with keys rotate only' };
  if (action === 'list' && kid === undefined) return { action };
  if (action === 'rotate' && kid === undefined) return { action, isNow };
  if (action !== 'revoke') return { fault: 'keys is followed by list, rotate or revoke KID, and nothing else' };
  return kid === undefined || rest.length > 0 ? { fault: 'keys revoke needs the kid of one key' } : { action, kid };
}

/** One in 64 thumbprints (RFC 7638, 43 characters) begins with "-". No option of ours looks like one. */
const isKid = (argument: string): boolean => /^-[\w-]{42}$/.test(argument);

/** Reorders the arguments so that no kid can be taken for an option. */
export function kidsLast(args: readonly string[]): string[] {
  const kids = args.filter(isKid);
  return kids.length === 0 ? [...args] : [...args.filter((argument) => !isKid(argument)), '--', ...kids];
}
