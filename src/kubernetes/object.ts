/** `metav1.ObjectMeta`, as far as we read it. Other members are kept as they came. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  /** Opaque: sent back as received, compared only by `compareResourceVersions`, made a number only in `reflector/past.ts`. */
  readonly resourceVersion: string;
  readonly creationTimestamp?: string | null;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

/** An object of the Kubernetes API as plain JSON: no dates, no classes, unknown members included. */
export interface KubernetesObject {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly [member: string]: unknown;
}

/**
 * Orders two resourceVersions: negative when `a` is older. They are decimal text of any length, so the longer one is
 * newer, and text order decides between equal lengths. Never `Number`, which is exact to 2^53 only. `''` (no version
 * yet) is older than all.
 */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Whether a listed or watched value has a name, a uid and a resourceVersion. The reflector orders objects by these. */
export function isKubernetesObject(value: unknown): value is KubernetesObject {
  if (typeof value !== 'object' || value === null) return false;
  const { metadata } = value as { metadata?: unknown };
  if (typeof metadata !== 'object' || metadata === null) return false;
  const { name, uid, resourceVersion } = metadata as Record<string, unknown>;
  return isText(name) && isText(uid) && isText(resourceVersion);
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** `namespace/name`, or `name` for cluster-scoped kinds. */
export const keyOf = ({ metadata }: KubernetesObject): string =>
  metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;

/** The resourceVersion of a list or a bookmark; `''` when there is none. */
export function versionOf(value: unknown): string {
  const metadata = (value as { metadata?: { resourceVersion?: unknown } } | null)?.metadata;
  return typeof metadata?.resourceVersion === 'string' ? metadata.resourceVersion : '';
}
