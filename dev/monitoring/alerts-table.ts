import { parse } from 'yaml';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

interface RulesFile {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}

const BEGIN =
  '<!-- Written by `npm run monitoring:write` from charts/gatehouse/files/rules.yaml. Change that file, not this table. -->';
const END = '<!-- The end of what is written. -->';

/** An expression in a cell: on one line, without the matcher that the chart replaces. */
const shown = (expr: string): string =>
  expr
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\{job="gatehouse",?/g, '{')
    .replaceAll('{}', '')
    .replaceAll('|', '\\|');

const row = ({ alert, expr, labels, annotations, ...rule }: Rule): string =>
  `| [${alert}](runbooks.md#${alert.toLowerCase()}) | ${labels.severity} | ${annotations.summary} | \`${shown(expr)}\` | ${rule.for ?? '–'} |`;

/** Replaces the table between the two marks of the page by a table of the alerts in this rules file. */
export function withAlerts(page: string, rulesFile: string): string {
  const { groups } = parse(rulesFile) as RulesFile;
  const table = [
    '| alert | severity | says | fires on | for |',
    '|---|---|---|---|---|',
    ...groups.flatMap(({ rules }) => rules.map(row)),
  ];
  const [before, rest] = page.split(BEGIN);
  const [, after] = rest?.split(END) ?? [];
  if (before === undefined || after === undefined) throw new Error('the page has no place for the table of alerts');
  return [before, BEGIN, '\n\n', table.join('\n'), '\n\n', END, after].join('');
}
