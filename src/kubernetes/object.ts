/** `metav1.ObjectMeta`, as far as we read it. Other members are kept as they came. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  /** Opaque: sent back as received, compared only by `compareResourceVersions`, never made a number. */
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
