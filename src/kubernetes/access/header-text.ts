/** What no header value may hold (RFC 9110 5.5): control characters but for the tab. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the characters are what is looked for.
const UNSENDABLE = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Whether a header can carry the text. */
export const isSendable = (text: string): boolean => !UNSENDABLE.test(text);

/** Header values are bytes, which undici takes as latin1; the API server reads them as UTF-8. */
export const toHeaderBytes = (text: string): string => Buffer.from(text).toString('latin1');
