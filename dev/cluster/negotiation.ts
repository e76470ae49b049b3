import type { Clock } from '../../src/runtime/clock.ts';
import { type Form, fullForm, metadataForm } from './form.ts';
import type { ResourceKind } from './kinds.ts';
import { ApiError } from './status.ts';
import { tableForm } from './tables/table.ts';

const JSON_RANGES: readonly string[] = ['application/json', 'application/*', '*/*'];
const YAML = 'application/yaml';

interface Range {
  readonly type: string;
  /** The parameter `as`, which asks for another form of the object. */
  readonly as: string | undefined;
}

/** The ranges of `Accept` that are served, in the order of the client. */
function served(accept: string | undefined): readonly Range[] {
  const ranges = (accept || '*/*').split(',').map((range): Range => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    return { type, as: parameters.find((parameter) => parameter.startsWith('as='))?.slice(3) };
  });
  return ranges.filter(({ type }) => type === YAML || JSON_RANGES.includes(type));
}

/** Whether a client gets YAML, because the first range that is served is YAML. */
export const wantsYaml = (accept: string | undefined): boolean => served(accept)[0]?.type === YAML;

/** Chooses the form by the first range of `Accept` that is served. Clients that ask for Protobuf or a Table also accept JSON. */
export function negotiateForm(
  accept: string | undefined,
  { kind, clock }: { readonly kind: ResourceKind; readonly clock: Clock },
): Form {
  for (const { as } of served(accept)) {
    if (as === undefined) return fullForm(kind);
    if (as.startsWith('PartialObjectMetadata')) return metadataForm;
    if (as === 'Table') return tableForm(kind, clock);
  }
  throw notAcceptable();
}

export const notAcceptable = (): ApiError =>
  new ApiError({
    code: 406,
    reason: 'NotAcceptable',
    message: 'only the following media types are accepted: application/json, application/yaml',
  });
