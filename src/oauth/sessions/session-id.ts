/**
 * The sessions of clients that begin in one browser have the browser's session in their id: `<browser session>~<own>`. So the end
 * of the browser's session ends them all, no matter which client began them, or on which replica (B-28). Neither part contains the
 * separator.
 */
const SEPARATOR = '~';

/** The id of a client's session that begins in the session of a browser. */
export const sessionIdWithin = (browserSession: string, own: string): string => `${browserSession}${SEPARATOR}${own}`;

/** Whether a session began in that of a browser, with which it ends. */
export const isWithinBrowser = (sid: string): boolean => sid.includes(SEPARATOR);

/** The session of the browser in which this session began; the session itself if it began in none. */
export function browserSessionOf(sid: string): string {
  const end = sid.indexOf(SEPARATOR);
  return end < 0 ? sid : sid.slice(0, end);
}
