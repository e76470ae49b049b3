/** One resource of the API in one version: where it is served and how it behaves there. */
export interface ResourceKind {
  /** Plural name as in the path. */
  readonly plural: string;
  /**
   * Names the kind in faults and in the evidence: the plural of a built-in kind (`pods`), `<plural>.<group>` of every other one
   * (`certificates.cert-manager.io`). All versions of a kind have one name.
   */
  readonly name: string;
  /** Names its objects in the store. This is the name, but both groups of events have the same objects. */
  readonly storedAs: string;
  readonly singular: string;
  readonly kind: string;
  /** API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Whether only the status subresource may change the `status`. */
  readonly hasStatus: boolean;
  /** PUT on an absent object creates it. */
  readonly putCreates: boolean;
  /** PUT on a present object must give its resourceVersion. */
  readonly putNeedsVersion: boolean;
  /**
   * Served by a CustomResourceDefinition. If that has a status subresource, only the subresource changes the status, and it changes
   * nothing else. Otherwise there is no status. `metadata.generation` counts the changes of everything but status and metadata.
   */
  readonly isCustom: boolean;
  /** Has `metadata.managedFields` and server-side apply. On a real server every kind has them, here only the kinds that tests need. */
  readonly isManaged: boolean;
  /**
   * Field selectors besides `metadata.name` and `metadata.namespace`, each with the value that stands for an absent
   * field.
   */
  readonly fields: Readonly<Record<string, string>>;
  /** Where a field selector finds its value in the stored object, if not at its own path. */
  readonly fieldPaths: Readonly<Record<string, string>>;
  /** How its objects differ from those that are stored; undefined if they do not. */
  readonly conversion: KindConversion | undefined;
  /** The columns that a definition adds to Tables; undefined for built-in kinds. */
  readonly columns: readonly PrinterColumn[] | undefined;
}

type Members = Readonly<Record<string, unknown>>;

/** Turns the members of an object into those that are stored, and back. */
export interface KindConversion {
  toStored<Kept extends Members>(object: Kept): Kept;
  fromStored<Kept extends Members>(object: Kept): Kept;
}

/** `additionalPrinterColumns` of a CustomResourceDefinition. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

/** What differs from a namespaced kind of `v1` without status. */
export interface KindTraits {
  readonly group?: string;
  /** Default `v1`. */
  readonly version?: string;
  /** Default: the kind in lower case. */
  readonly singular?: string;
  /** Separated by spaces. */
  readonly short?: string;
  readonly categories?: readonly string[];
  readonly name?: string;
  readonly storedAs?: string;
  readonly cluster?: boolean;
  readonly status?: boolean;
  readonly putCreates?: true;
  readonly putNeedsVersion?: true;
  readonly custom?: true;
  readonly managed?: true;
  readonly fields?: Readonly<Record<string, string>>;
  readonly fieldPaths?: Readonly<Record<string, string>>;
  readonly conversion?: KindConversion;
  readonly columns?: readonly PrinterColumn[] | undefined;
}

export const defineKind = (plural: string, kind: string, traits: KindTraits = {}): ResourceKind => ({
  plural,
  name: traits.name ?? plural,
  storedAs: traits.storedAs ?? traits.name ?? plural,
  singular: traits.singular ?? kind.toLowerCase(),
  kind,
  group: traits.group ?? '',
  version: traits.version ?? 'v1',
  namespaced: !traits.cluster,
  shortNames: traits.short?.split(' ') ?? [],
  categories: traits.categories ?? [],
  hasStatus: traits.status ?? false,
  putCreates: traits.putCreates ?? false,
  putNeedsVersion: traits.putNeedsVersion ?? traits.custom ?? false,
  isCustom: traits.custom ?? false,
  isManaged: traits.managed ?? false,
  fields: traits.fields ?? {},
  fieldPaths: traits.fieldPaths ?? {},
  conversion: traits.conversion,
  columns: traits.columns,
});

/** `v1` or `coordination.k8s.io/v1`. */
export const apiVersionOf = (kind: Pick<ResourceKind, 'group' | 'version'>): string =>
  kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;

/** `secrets` or `leases.coordination.k8s.io`, the form in error messages. */
export const qualifiedName = (kind: Pick<ResourceKind, 'group' | 'plural'>): string =>
  kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
