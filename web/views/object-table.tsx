import { useMemo } from 'preact/hooks';
import type { LiveList } from '../live/live-list.ts';
import { Listed } from '../parts/listed.tsx';
import { LiveTable } from '../table/live-table.tsx';
import { language, t } from '../texts/text.ts';
import { columnsOf } from './columns.tsx';
import type { PrinterColumn } from './printer-columns.ts';

interface ObjectTableProps {
  /** The name of the kind in paths. */
  readonly plural: string;
  readonly list: LiveList;
  readonly label: string;
  readonly noun: string;
  /** The columns that the definition of a custom resource asks for. */
  readonly printed?: readonly PrinterColumn[] | undefined;
  readonly isNamespaced?: boolean;
  /** A column that would say the same in every row. */
  readonly without?: string;
}

/** The objects of any kind in one live table. */
export function ObjectTable({ plural, list, label, noun, printed, isNamespaced = true, without }: ObjectTableProps) {
  const columns = useMemo(
    () => columnsOf({ plural, isNamespaced, printed: printed ?? [] }).filter(({ id }) => id !== without),
    [plural, isNamespaced, printed, without, language.value],
  );
  return (
    <>
      <Listed list={list} noun={noun} />
      <LiveTable list={list} columns={columns} label={label} empty={<p>{t().table.empty}</p>} />
    </>
  );
}
