import { isRecord } from './kube-object.ts';
import type { ApiRequest } from './request.ts';
import { invalid } from './status.ts';

const OPTIONS: Readonly<Record<string, string>> = {
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
  delete: 'DeleteOptions',
};

/**
 * Whether a write only asks what would happen: `dryRun=All` in the query, or in the options that a deletion has in its
 * body. Everything is checked and nothing is stored.
 */
export function isDryRun({ query, verb, body }: ApiRequest): boolean {
  const values = verb === 'delete' && body.length > 0 ? inOptions(body) : query.getAll('dryRun').filter(Boolean);
  if (values.some((value) => value !== 'All')) throw unknownValue(verb, values);
  return values.length > 0;
}

function inOptions(body: Buffer): readonly unknown[] {
  const options: unknown = JSON.parse(body.toString());
  return isRecord(options) && Array.isArray(options['dryRun']) ? options['dryRun'] : [];
}

function unknownValue(verb: string, values: readonly unknown[]) {
  const message = `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`;
  return invalid({ group: 'meta.k8s.io', kind: OPTIONS[verb] ?? '', name: '' }, [
    { field: 'dryRun', reason: 'FieldValueNotSupported', message },
  ]);
}
