/** What no header value may hold (RFC 9110 5.5): control characters but for the tab. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the characters are what is looked for.
const UNSENDABLE = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Whether a header can carry the text. */
export const isSendable = (text: string): boolean => !UNSENDABLE.test(text);
