import type { ResourceKind } from './kinds.ts';
import { isRecord, type KubeObject, type NewObject } from './kube-object.ts';
import type { ResourceTarget } from './request.ts';
import { invalid } from './status.ts';

/** Sets what the server decides on a new object of this kind, whatever the client says: its registry strategy. */
export function prepareForCreate(kind: ResourceKind, object: NewObject): NewObject {
  const spec = isRecord(object['spec']) ? object['spec'] : {};
  switch (kind.plural) {
    case 'secrets':
      return { ...object, type: object['type'] ?? 'Opaque' };
    case 'pods':
      return { ...object, status: { phase: 'Pending', qosClass: 'BestEffort' } };
    case 'nodes':
      return { ...object, spec, status: object['status'] ?? {} };
    case 'namespaces': {
      const labels = { ...object.metadata.labels, 'kubernetes.io/metadata.name': object.metadata.name };
      const metadata = { ...object.metadata, labels };
      return { ...object, metadata, spec: { ...spec, finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
    }
    default:
      return object;
  }
}

/**
 * An update of the main resource does not change the status. An update of the status subresource changes only status
 * and metadata.
 */
export function prepareForUpdate(
  { kind, subresource }: Pick<ResourceTarget, 'kind' | 'subresource'>,
  stored: KubeObject,
  wanted: NewObject,
): NewObject {
  if (kind.plural === 'secrets') return withStoredType(stored, wanted);
  if (!kind.hasStatus) return wanted;
  const { metadata, status } = wanted as NewObject & Pick<KubeObject, 'status'>;
  if (subresource === 'status') return { ...stored, metadata, ...(status === undefined ? {} : { status }) };
  return { ...wanted, ...(stored.status === undefined ? {} : { status: stored.status }) };
}

/** The type of a Secret may be left out but not changed. */
function withStoredType(stored: KubeObject, wanted: NewObject): NewObject {
  const type = wanted['type'] || stored['type'];
  if (type === stored['type']) return { ...wanted, type };
  const message = `Invalid value: ${JSON.stringify(type)}: field is immutable`;
  throw invalid({ group: '', kind: 'Secret', name: stored.metadata.name }, [
    { field: 'type', reason: 'FieldValueInvalid', message },
  ]);
}
