/** A Markdown table. Cells may contain code in backticks; all other text is escaped. */
export const markdownTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(escaped).join(' | ')} |`).join('\n');

/** Escapes the characters that Markdown would interpret, outside of code. */
const escaped = (text: string): string =>
  text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(/[<*]/g, '\\$&')))
    .join('`')
    .replaceAll('|', '\\|');
