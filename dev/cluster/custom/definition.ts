import { defineKind, type PrinterColumn, type ResourceKind } from '../kinds.ts';
import { isRecord, type KubeObject, type NewObject } from '../kube-object.ts';
import { type InvalidField, invalid } from '../status.ts';

/** The members of `spec` of a CustomResourceDefinition that are read here. */
export interface Definition {
  readonly group: string;
  readonly scope: string;
  readonly names: {
    readonly plural: string;
    readonly kind: string;
    readonly singular?: string;
    readonly listKind?: string;
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  };
  readonly versions: readonly DefinedVersion[];
}

interface DefinedVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly subresources?: { readonly status?: object };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

export const definitionOf = (object: NewObject): Definition => object['spec'] as Definition;

export const DEFINITIONS = 'customresourcedefinitions';

/** The versions that are served, each as a kind. */
export function kindsOf(object: KubeObject): readonly ResourceKind[] {
  const { group, scope, names, versions } = definitionOf(object);
  const common = {
    group,
    name: object.metadata.name,
    singular: names.singular ?? names.kind.toLowerCase(),
    cluster: scope === 'Cluster',
    custom: true,
    ...(names.shortNames && { short: names.shortNames.join(' ') }),
    ...(names.categories && { categories: names.categories }),
  } as const;
  return versions
    .filter(({ served }) => served)
    .map((version) =>
      defineKind(names.plural, names.kind, {
        ...common,
        version: version.name,
        status: version.subresources?.status !== undefined,
        fields: Object.fromEntries((version.selectableFields ?? []).map(({ jsonPath }) => [jsonPath.slice(1), ''])),
        columns: version.additionalPrinterColumns ?? AGE,
      }),
    );
}

/** The columns of a definition that names none. */
const AGE: readonly PrinterColumn[] = [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }];

/** Fills in what a server fills in: the names that follow from others, the conversion, and the status of a new definition. */
export function completedDefinition(object: NewObject): NewObject {
  const spec = definitionOf(object);
  if (!isDefinition(spec)) return object; // refused afterwards
  const { names, versions } = spec;
  const given = { singular: names.kind.toLowerCase(), listKind: `${names.kind}List`, ...names };
  return {
    ...object,
    metadata: { ...object.metadata, generation: 1 },
    spec: { conversion: { strategy: 'None' }, ...spec, names: given },
    status: {
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: versions.filter(({ storage }) => storage).map(({ name }) => name),
    },
  };
}

const isDefinition = (spec: unknown): spec is Definition =>
  isRecord(spec) &&
  isRecord(spec['names']) &&
  Array.isArray(spec['versions']) &&
  typeof spec['names']['kind'] === 'string';

/** Refuses with 422 a definition of which no kind could be made. A real server checks much more, the schemas above all. */
export function checkDefinition({ metadata, ...object }: NewObject): void {
  const spec = object['spec'];
  const problems: InvalidField[] = [];
  const wrong = (field: string, message: string): number =>
    problems.push({ field, reason: 'FieldValueInvalid', message });
  if (!isDefinition(spec)) wrong('spec', 'Invalid value: null: names and versions are required');
  else {
    if (metadata.name !== `${spec.names.plural}.${spec.group}`)
      wrong(
        'metadata.name',
        `Invalid value: ${JSON.stringify(metadata.name)}: must be spec.names.plural+"."+spec.group`,
      );
    if (spec.versions.filter(({ storage }) => storage).length !== 1)
      wrong('spec.versions', 'Invalid value: null: must have exactly one version marked as storage version');
  }
  const subject = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition', name: metadata.name };
  if (problems.length > 0) throw invalid(subject, problems);
}
