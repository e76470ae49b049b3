/** Milliseconds since 1970 as RFC 3339 in whole seconds, rounded down: how Kubernetes writes times (`metav1.Time`). */
export const toRfc3339 = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
