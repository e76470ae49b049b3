/**
 * From 1.34 on kube-apiserver compares each of its watch caches with etcd every five minutes and answers no list from a snapshot that
 * differs (feature gate `DetectCacheInconsistency`, on unless it was switched off; KEP-4988). The gate itself cannot be read without
 * rights on the server's metrics.
 */
const SINCE = { major: 1, minor: 34 };

/** From its `/version`. A server that emulates an older one has that one's features. */
export function isOfServerThatChecks(version: Readonly<Record<string, unknown>>): boolean {
  const major = numberIn(version['emulationMajor'] || version['major']);
  const minor = numberIn(version['emulationMinor'] || version['minor']);
  return major > SINCE.major || (major === SINCE.major && minor >= SINCE.minor);
}

/** Some providers write `34+`. 0 for what is no number. */
const numberIn = (text: unknown): number => Number(/^\d+/.exec(String(text))?.[0] ?? 0);
