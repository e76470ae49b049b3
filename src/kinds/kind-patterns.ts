/**
 * Whether one of these patterns names the kind. A pattern is `resource.group` with `*` for the whole of either side, or `*` alone. The core group
 * is the empty one: `pods.` is the pods of Kubernetes, `pods.*` also those of `metrics.k8s.io`. A plural has no dot, so the first dot ends it. Only
 * whole sides are compared: `*.example.com` does not cover the group `sub.example.com`.
 */
export function matches(
  patterns: readonly string[],
  { resource, group }: { readonly resource: string; readonly group: string },
): boolean {
  const covering = [`${resource}.${group}`, `${resource}.*`, `*.${group}`, '*.*', '*'];
  return patterns.some((pattern) => covering.includes(pattern));
}
