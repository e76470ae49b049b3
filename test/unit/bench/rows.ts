/** The cells of the row of a printed table that begins so, without that beginning. */
export const rowOf = (text: string, name: string): string | undefined =>
  text
    .split('\n')
    .find((line) => line.startsWith(name))
    ?.slice(name.length)
    .trim()
    .replace(/ {2,}/g, ' | ');
