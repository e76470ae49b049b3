import { apiVersionOf, type ResourceKind } from './kinds.ts';
import { isRecord } from './kube-object.ts';
import { type ApiError, badRequest, type InvalidField, invalid } from './status.ts';

const NAME_PART = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const VALUE = `(${NAME_PART})?`;
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;

const anchored = (pattern: string): RegExp => new RegExp(`^${pattern}$`);
const IS = {
  namePart: anchored(NAME_PART),
  value: anchored(VALUE),
  label: anchored(LABEL),
  subdomain: anchored(SUBDOMAIN),
};

const CHARACTERS =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const namePartRule = (what: string): string =>
  `${what} ${CHARACTERS} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${NAME_PART}')`;
const VALUE_RULE = `a valid label must be an empty string or ${CHARACTERS.slice('must '.length)} (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${VALUE}')`;
const LABEL_RULE = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`;
const SUBDOMAIN_RULE = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;

const tooLong = (text: string, most: number): string[] =>
  text.length > most ? [`must be no more than ${most} ${most === 63 ? 'characters' : 'bytes'}`] : [];

/** What is wrong with a key of a label or an annotation, or with a finalizer. */
function qualifiedNameProblems(text: string): string[] {
  const [first = '', second, ...more] = text.split('/');
  if (more.length > 0)
    return [
      `${namePartRule('a qualified name')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const name = second ?? first;
  const ofPrefix = second === undefined ? [] : prefixProblems(first);
  const ofName = name === '' ? ['name part must be non-empty'] : tooLong(name, 63).map((why) => `name part ${why}`);
  return [...ofPrefix, ...ofName, ...(IS.namePart.test(name) ? [] : [namePartRule('name part')])];
}

function prefixProblems(prefix: string): string[] {
  if (prefix === '') return ['prefix part must be non-empty'];
  const problems = [...tooLong(prefix, 253), ...(IS.subdomain.test(prefix) ? [] : [SUBDOMAIN_RULE])];
  return problems.map((why) => `prefix part ${why}`);
}

const invalidValue = (field: string, value: string, whys: readonly string[]): InvalidField[] =>
  whys.map((why) => ({
    field,
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(value)}: ${why}`,
  }));

/** Names follow RFC 1123. The name of an RBAC object may be any path segment, and that of a namespace has no dots. */
function nameProblems({ group, name: kind }: ResourceKind, name: string): InvalidField[] {
  const wrong = (whys: readonly string[]): InvalidField[] => invalidValue('metadata.name', name, whys);
  if (group === 'rbac.authorization.k8s.io')
    return ['/', '%'].flatMap((one) => (name.includes(one) ? wrong([`may not contain '${one}'`]) : []));
  if (kind !== 'namespaces')
    return wrong([...tooLong(name, 253), ...(IS.subdomain.test(name) ? [] : [SUBDOMAIN_RULE])]);
  if (IS.subdomain.test(name) && name.includes('.')) return wrong(['must not contain dots']);
  return wrong([...tooLong(name, 63), ...(IS.label.test(name) ? [] : [LABEL_RULE])]);
}

function labelProblems(labels: Readonly<Record<string, string>>): InvalidField[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...invalidValue('metadata.labels', key, qualifiedNameProblems(key)),
    ...invalidValue('metadata.labels', value, [...tooLong(value, 63), ...(IS.value.test(value) ? [] : [VALUE_RULE])]),
  ]);
}

/** The keys of annotations may have capital letters in the prefix. */
const annotationProblems = (annotations: Readonly<Record<string, string>>): InvalidField[] =>
  Object.keys(annotations).flatMap((key) =>
    invalidValue('metadata.annotations', key, qualifiedNameProblems(key.toLowerCase())),
  );

const STANDARD_FINALIZERS: readonly string[] = ['kubernetes', 'foregroundDeletion', 'orphan'];

/** Leases and custom resources may have any finalizer. For other kinds, a name without a slash must be one of the standard ones. */
function finalizerProblems({ isCustom, name: kind }: ResourceKind, finalizers: readonly string[]): InvalidField[] {
  const malformed = finalizers.flatMap((name) =>
    invalidValue('metadata.finalizers', name, qualifiedNameProblems(name)),
  );
  const bare = finalizers.flatMap((name, at) =>
    isCustom || kind === 'leases' || name.includes('/') || STANDARD_FINALIZERS.includes(name)
      ? []
      : invalidValue(`metadata.finalizers[${at}]`, name, [
          'name is neither a standard finalizer name nor is it fully qualified',
        ]),
  );
  return [...malformed, ...bare];
}

/** Refuses invalid metadata of any kind with 422. Checks the name only if `isNew`. */
export function checkMetadata(kind: ResourceKind, metadata: Readonly<Record<string, unknown>>, isNew: boolean): void {
  const name = String(metadata['name'] ?? '');
  const problems = [
    ...(isNew && name !== '' ? nameProblems(kind, name) : []),
    ...labelProblems(textsIn(metadata['labels'])),
    ...annotationProblems(textsIn(metadata['annotations'])),
    ...finalizerProblems(kind, ((metadata['finalizers'] ?? []) as readonly unknown[]).map(String)),
  ];
  if (problems.length > 0) throw invalid({ ...kind, name }, problems);
}

const textsIn = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(isRecord(value) ? value : {}).map(([key, text]) => [key, String(text ?? '')]));

/** Returns the error that a Go decoder gives for a member of the wrong type; `undefined` if all types are right. */
function decodingProblem({ isCustom }: ResourceKind, metadata: unknown): string | undefined {
  const field = (name: string): string => `Go struct field ObjectMeta${isCustom ? '' : '.metadata'}.${name}`;
  if (metadata !== undefined && metadata !== null && !isRecord(metadata))
    return `json: cannot unmarshal ${typeOf(metadata)} into Go struct field .metadata of type v1.ObjectMeta`;
  for (const name of ['labels', 'annotations'] as const) {
    const texts = metadata?.[name] ?? {};
    if (!isRecord(texts))
      return `json: cannot unmarshal ${typeOf(texts)} into ${field(name)} of type map[string]string`;
    const odd = Object.values(texts).find((value) => typeof value !== 'string' && value !== null);
    if (odd !== undefined) return `json: cannot unmarshal ${typeOf(odd)} into ${field(name)} of type string`;
  }
  const finalizers = metadata?.['finalizers'] ?? [];
  return Array.isArray(finalizers)
    ? undefined
    : `json: cannot unmarshal ${typeOf(finalizers)} into ${field('finalizers')} of type []string`;
}

const typeOf = (value: unknown): string =>
  typeof value === 'boolean' ? 'bool' : Array.isArray(value) ? 'array' : typeof value;

/** Refuses with 400 a body whose metadata has a member of the wrong type. */
export function checkDecoding(kind: ResourceKind, metadata: unknown): void {
  const problem = decodingProblem(kind, metadata);
  if (problem === undefined) return;
  const version = apiVersionOf(kind).split('/').at(-1);
  throw badRequest(`${kind.kind} in version "${version}" cannot be handled as a ${kind.kind}: ${problem}`);
}

/** Refuses with 422 a patch that gives metadata a member of the wrong type. A real server repeats the object in its text. */
export function checkPatched(kind: ResourceKind, { metadata }: { readonly metadata?: unknown }): void {
  const problem = decodingProblem(kind, metadata);
  if (problem !== undefined) throw unreadablePatch(problem);
}

/** 422 for a patch after which the object cannot be read. */
export const unreadablePatch = (why: string): ApiError =>
  invalid({ group: '', kind: '', name: '' }, [
    { field: 'patch', reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify('{}')}: ${why}` },
  ]);
