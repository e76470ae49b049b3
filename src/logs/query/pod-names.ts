/** The characters in the hash of a ReplicaSet and in the random end of a pod's name (`k8s.io/apimachinery/pkg/util/rand`). */
const HASH = '[bcdfghjklmnpqrstvwxz2456789]';
const SUFFIX = '[a-z0-9]{5}';

/** A generated name has at most 63 characters, five of them random: the name before is cut at 58 (`k8s.io/apiserver/pkg/storage/names`). */
const LONGEST_BASE = 58;
/** The longest workload name that is not cut: name, hyphen, ten characters of a hash, and hyphen make 58. */
const LONGEST_WHOLE = 46;

/**
 * The names of the pods of a workload of this name, as a regular expression that JavaScript and Lucene read alike and that is
 * to match a whole name: those of a Deployment, a StatefulSet, a DaemonSet or a Job (docs/contract/logging.md, section 4.2).
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
 * The name with nothing in it that means anything to Lucene or JavaScript. Lucene knows more such characters than JavaScript
 * (`"`, `#`, `@`, `&`, `<`, `>`, `~`), which a pod's name never has, and takes any escaped character as itself.
 */
const literal = (name: string): string => name.replaceAll(/[^A-Za-z0-9-]/gu, '\\$&');
