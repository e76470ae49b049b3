/** What a kubeconfig of ours is made of. */
export type YamlValue = string | boolean | readonly YamlValue[] | { readonly [key: string]: YamlValue };

/**
 * A text that every YAML parser takes for a text when it is not quoted, and that needs no escape. A letter first excludes numbers and
 * times, and `WORDS` those that YAML 1.1 takes for something else.
 */
const PLAIN = /^(?:--)?[A-Za-z][\w./:@=+-]*[\w/=]$/;
const WORDS = /^(?:yes|no|on|off|true|false|null)$/i;

/**
 * The value as YAML, without a line end after the last line. With a library for it, three quarters of the program for laptops were that
 * library. The file with Node inside reads all of itself at each start, and kubectl waits for it.
 */
export const yamlText = (value: YamlValue): string => lines(value).join('\n');

function lines(value: YamlValue): string[] {
  if (typeof value !== 'object') return [scalar(value)];
  if (isList(value)) return value.flatMap((item) => indented('- ', lines(item)));
  return Object.entries(value).flatMap(([key, item]) => {
    const [first = '', ...more] = lines(item);
    if (typeof item !== 'object') return [`${scalar(key)}: ${first}`];
    return [`${scalar(key)}:`, ...[first, ...more].map((line) => `  ${line}`)];
  });
}

function indented(mark: string, [first = '', ...more]: readonly string[]): string[] {
  return [mark + first, ...more.map((line) => `  ${line}`)];
}

/** A text in the quotes of JSON is one of YAML too. */
const scalar = (value: string | boolean): string =>
  typeof value === 'string' && !(PLAIN.test(value) && !WORDS.test(value)) ? JSON.stringify(value) : String(value);

const isList = (value: YamlValue): value is readonly YamlValue[] => Array.isArray(value);
