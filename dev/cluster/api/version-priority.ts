/** `v1` is before `v2`'s betas and alphas; the maturity of a version is 3 for stable, 2 for beta, 1 for alpha. */
const MATURITY: Readonly<Record<string, number>> = { '': 3, beta: 2, alpha: 1 };

function parsed(version: string): readonly number[] | undefined {
  const [, major, stage = '', minor = '0'] = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version) ?? [];
  return major === undefined ? undefined : [MATURITY[stage] ?? 0, Number(major), Number(minor)];
}

/**
 * Orders versions as `k8s.io/apimachinery/pkg/version` does: stable ones first, then betas, then alphas, each newest first; then those
 * that are named otherwise, by name.
 */
export function byVersionPriority(a: string, b: string): number {
  const [first, second] = [parsed(a), parsed(b)];
  if (!first || !second) return first ? -1 : second ? 1 : a < b ? -1 : a > b ? 1 : 0;
  const at = first.findIndex((part, index) => part !== second[index]);
  return at === -1 ? 0 : (second[at] ?? 0) - (first[at] ?? 0);
}
