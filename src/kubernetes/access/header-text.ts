/** The characters that no header value may contain (RFC 9110 5.5): control characters except the tab. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds control characters.
const UNSENDABLE = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Whether a header can carry the text. */
export const isSendable = (text: string): boolean => !UNSENDABLE.test(text);
