/** The words of Go's `strconv.ParseBool`. KubeSphere 3.4 reads booleans with it, so its clients write them. */
const TRUE_WORDS = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE_WORDS = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

/** `undefined` for every other text, the empty one included. */
export function parseBooleanWord(text: string): boolean | undefined {
  if (TRUE_WORDS.has(text)) return true;
  return FALSE_WORDS.has(text) ? false : undefined;
}
