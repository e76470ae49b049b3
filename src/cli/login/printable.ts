/** Printable ASCII, which any terminal can show and RFC 6749 5.2 allows; Gatehouse's descriptions are shorter than the limit. */
export const isPrintable = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x20-\x7e]{1,500}$/.test(value);
