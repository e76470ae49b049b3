/** A version of the node list: what its ETag reads between the quotes. */
export interface WatchVersion {
  /** Names the process: the versions of two have nothing in common. */
  readonly epoch: string;
  readonly version: number;
}

/**
 * The ETag of the compressed list names the same version. 15 digits are exact as a number; a thousand changes a second fill them in
 * 30,000 years.
 */
const VERSION = /^([0-9a-z]{1,32})-([0-9]{1,15})(?:-gzip)?$/;

/** `undefined` for a text that no list ever had. */
export function parseVersion(text: string): WatchVersion | undefined {
  const [, epoch, version] = VERSION.exec(text) ?? [];
  return epoch === undefined ? undefined : { epoch, version: Number(version) };
}

export const versionText = ({ epoch, version }: WatchVersion): string => `${epoch}-${version}`;
