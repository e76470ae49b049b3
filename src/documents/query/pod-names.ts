/** The characters in the hash of a ReplicaSet and in the random end of a pod's name (`k8s.io/apimachinery/pkg/util/rand`). */
const HASH = '[bcdfghjklmnpqrstvwxz2456789]';
const SUFFIX = '[a-z0-9]{5}';

/**
 * A generated name has at most 63 characters, five of them random, so the part before is cut at 58
 * (`k8s.io/apiserver/pkg/storage/names`).
 */
const LONGEST_BASE = 58;
/** The longest workload name that is not cut: name, hyphen, hash of ten characters and hyphen make 58. */
const LONGEST_WHOLE = 46;

/**
 * A regular expression for the names of the pods of a Deployment, StatefulSet, DaemonSet or Job with this name (docs/contract/logging.md,
 * section 4.2). JavaScript and Lucene read it alike. It must be matched against the whole name.
 */
export function podNamesOf(workload: string): string {
  const name = literal(workload);
  const ofStatefulSet = `${name}-[0-9]+`;
  const ofDaemonSet = `${name}-${SUFFIX}`;
  if (workload.length <= LONGEST_WHOLE) return `${name}-${HASH}{1,10}-${SUFFIX}|${ofStatefulSet}|${ofDaemonSet}`;
  if (workload.length < LONGEST_BASE) {
    return `${name}-${HASH}{${LONGEST_BASE - 1 - workload.length}}${SUFFIX}|${ofStatefulSet}|${ofDaemonSet}`;
  }
  return `${literal(workload.slice(0, LONGEST_BASE))}${SUFFIX}|${ofStatefulSet}`;
}

/**
 * Escapes every character that may be syntax in Lucene or JavaScript. Lucene has more of them than JavaScript (`"`, `#`, `@`, `&`, `<`,
 * `>`, `~`), and takes any escaped character as itself; a pod's name never contains one.
 */
const literal = (name: string): string => name.replaceAll(/[^A-Za-z0-9-]/gu, '\\$&');
