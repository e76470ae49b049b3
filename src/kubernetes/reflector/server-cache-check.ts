/**
 * From 1.34 on kube-apiserver compares each of its watch caches with etcd every five minutes, and answers no list from
 * a snapshot that differs (feature gate `DetectCacheInconsistency`, on by default; KEP-4988). Reading the gate itself
 * needs rights on the server's metrics.
 */
const SINCE = { major: 1, minor: 34 };

/** Tells it from the server's `/version`. A server that emulates an older release has the features of that release. */
export function isOfServerThatChecks(version: Readonly<Record<string, unknown>>): boolean {
  const major = numberIn(version['emulationMajor'] || version['major']);
  const minor = numberIn(version['emulationMinor'] || version['minor']);
  return major > SINCE.major || (major === SINCE.major && minor >= SINCE.minor);
}

/** Some providers write `34+`. Returns 0 for text that is no number. */
const numberIn = (text: unknown): number => Number(/^\d+/.exec(String(text))?.[0] ?? 0);
