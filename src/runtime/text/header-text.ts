/** RFC 9110 5.5: no control character but a tab inside; receivers cut off blanks and tabs at the ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const FIELD_VALUE = /^(?![\t ])[^\x00-\x08\x0a-\x1f\x7f]+(?<![\t ])$/;

/** Whether a header can carry the text so that its receiver reads the same. A lone surrogate cannot: it has no octets in UTF-8. */
export const fitsHeader = (text: string): boolean => FIELD_VALUE.test(text) && Buffer.from(text).toString() === text;

/** The UTF-8 octets of the text, each as one character: Node.js and undici write header values as latin1, and Go reads them as UTF-8. */
export const headerOctets = (text: string): string => Buffer.from(text).toString('latin1');
