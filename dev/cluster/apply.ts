import { isDeepStrictEqual } from 'node:util';
import { fieldAt, fieldsOf, type Managed, type Manager, managedOf, stepsOf, withManaged } from './field-managers.ts';
import type { ResourceKind } from './kinds.ts';
import { isRecord, type KubeObject, type NewObject } from './kube-object.ts';
import { mergePatch } from './merge-patch.ts';
import { ApiError } from './status.ts';

interface Application {
  readonly kind: ResourceKind;
  /** Undefined if the object does not exist. */
  readonly stored: KubeObject | undefined;
  /** The fields that the manager wants, and no others. */
  readonly config: NewObject;
  readonly by: Manager;
  /** Takes over fields that other managers own. */
  readonly force: boolean;
}

/**
 * Server-side apply (https://kubernetes.io/docs/reference/using-api/server-side-apply/), but lists are not merged by key. The manager
 * owns the fields of `config` from now on. Fields that it no longer applies are removed, unless another manager owns them.
 */
export function applied({ kind, stored, config, by, force }: Application): NewObject {
  const isOwn = ({ manager, operation }: Managed): boolean => manager === by.name && operation === 'Apply';
  const managed = managedOf(stored);
  const others = managed.filter((entry) => !isOwn(entry));
  const fields = fieldsOf(config);
  const disputed = fields.filter((field) => !isDeepStrictEqual(fieldAt(stored ?? {}, field), fieldAt(config, field)));
  const conflicts = others.flatMap((other) =>
    disputed.filter((field) => other.fields.has(field)).map((field) => ({ other, field })),
  );
  if (conflicts.length > 0 && !force) throw conflictWith(conflicts);
  const left = others.map((entry) => ({
    ...entry,
    fields: new Set([...entry.fields].filter((field) => !disputed.includes(field))),
  }));
  const before = managed.find(isOwn)?.fields ?? new Set<string>();
  const gone = [...before].filter((field) => !fields.includes(field) && !left.some((entry) => entry.fields.has(field)));
  const next = without(mergePatch(stored ?? {}, config) as NewObject, gone);
  const isSame = isDeepStrictEqual(new Set(fields), before) && disputed.length === 0;
  const time = isSame ? (managed.find(isOwn)?.time ?? by.time) : by.time;
  const entry: Managed = {
    manager: by.name,
    operation: 'Apply',
    apiVersion: by.apiVersion,
    time,
    fields: new Set(fields),
  };
  return withManaged({ ...next, kind: kind.kind }, [...left, entry]);
}

function without(object: NewObject, fields: readonly string[]): NewObject {
  const copy = structuredClone(object) as Record<string, unknown>;
  for (const field of fields) {
    const steps = stepsOf(field);
    const name = steps.pop() ?? '';
    let parent: unknown = copy;
    for (const step of steps) parent = isRecord(parent) ? parent[step] : undefined;
    if (isRecord(parent)) delete parent[name];
  }
  return copy as unknown as NewObject;
}

interface Conflict {
  readonly other: Managed;
  readonly field: string;
}

const dotted = (field: string): string => field.replaceAll('/', '.');

const named = ({ manager, operation, apiVersion }: Managed): string =>
  operation === 'Apply' ? JSON.stringify(manager) : `${JSON.stringify(manager)} using ${apiVersion}`;

function conflictWith(conflicts: readonly Conflict[]): ApiError {
  const causes = conflicts.map(({ other, field }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${named(other)}`,
    field: dotted(field),
  }));
  return new ApiError({ code: 409, reason: 'Conflict', message: messageOf(conflicts), details: { causes } });
}

function messageOf(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first && conflicts.length === 1)
    return `Apply failed with 1 conflict: conflict with ${named(first.other)}: ${dotted(first.field)}`;
  const lines = [...Map.groupBy(conflicts, ({ other }) => named(other))].flatMap(([manager, theirs]) => [
    `conflicts with ${manager}:`,
    ...theirs.map(({ field }) => `- ${dotted(field)}`),
  ]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}
