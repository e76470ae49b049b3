/** The value if it is a JSON object; otherwise one without members. */
export const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** The value if it is a JSON array; otherwise an empty one. */
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The value if it is a text; otherwise the empty text. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
