/** Shows 3 significant digits, all digits from 1,000 on, and a dash for a value that could not be measured. */
export function number(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '–';
  if (value >= 1000) return Math.round(value).toLocaleString('en-US');
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export const count = (value: number): string => value.toLocaleString('en-US');

export const percent = (share: number | undefined): string =>
  share === undefined || Number.isNaN(share) ? '–' : `${Math.round(share * 100)} %`;

export const megabytes = (bytes: number | undefined): string =>
  bytes === undefined ? '–' : `${number(bytes / 1e6)} MB`;

export const verdict = (isMet: boolean): string => (isMet ? 'met' : 'MISSED');

/** A text table: the first column to the left, the others to the right, two blanks between. */
export function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, column) => Math.max(...[cell, ...rows.map((row) => row[column] ?? '')].map(length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width));
  return [title, '', line(head), line(rule), ...rows.map(line), ''].join('\n');
}

const length = (text: string): number => text.length;
