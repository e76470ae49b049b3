const LONGEST_TEXT = 256;
/** Only this much of a text is searched, because the time of the pattern below may grow with the square of the length. */
const LONGEST_LOOK = 1_024;
/** An address in any form, with or without a port; a URL; or a name that exists only in a private network. */
const PLACE =
  /\bhttps?:\/\/[^\s,\]}]+|\[?[\w.:-]*[\w\]]:\d{2,5}\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[\da-f]{0,4}:[\da-f:]*:[\da-f]*|\b[\w-]+(?:\.[\w-]+)*\.(?:svc|local|internal|localdomain)\b[\w.-]*/gi;

/** The part of a store's message that a caller may see: without addresses, and at most 256 characters. */
export function publicText(text: string): string {
  const seen = text.slice(0, LONGEST_LOOK);
  // An address that was cut no longer matches the pattern, so the word at the cut is removed.
  const whole = seen.length < text.length ? seen.replace(/[^\s,]{0,256}$/, '') : seen;
  return (whole === '' ? seen : whole).replaceAll(PLACE, '…').slice(0, LONGEST_TEXT);
}
