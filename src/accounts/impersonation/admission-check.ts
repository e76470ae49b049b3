import { ClusterError } from '../../kubernetes/client/api-client.ts';
import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ImpersonationForm } from './impersonation-role.ts';

/** A policy is deleted or changed by hand, rarely. Until then a thief of our token has at most what the policy allows. */
const TRUSTED_MS = 600_000;
/** A new policy takes effect within seconds. */
const RETRY_MS = 5_000;

/** A group that no role of ours may ever name: its members may do everything. */
const FORBIDDEN_GROUP = 'system:masters';

/** A policy that somebody has made for other reasons may refuse the group and not this. */
const EVERYTHING = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };

/** The words of the API server for a refusal by a policy or a webhook. */
const BY_ADMISSION = /ValidatingAdmissionPolicy '|admission webhook "[^"]*" denied the request/;

const NO_RIGHT = 'the cluster does not let this server change the ClusterRoles of gateway.accounts';
const NO_POLICY =
  'no admission policy limits what this server writes into the ClusterRoles of gateway.accounts: install that of the chart';

/** What the check found: `limited`, or in one sentence why our roles must not get more names. */
export type AdmissionFinding = 'limited' | { readonly fault: string };

export interface AdmissionCheckParts {
  readonly clusterRoles: Pick<ClusterObjects, 'patch'>;
  readonly clock: Clock;
  readonly form: ImpersonationForm;
}

/**
 * Checks that the cluster's admission limits what our account may write into its roles. Our account has `escalate` on these roles, so
 * without the chart's ValidatingAdmissionPolicy a thief of our token could give it every right. The check sends two dry runs that the
 * policy must refuse: they change nothing, need no other right, and show what is in effect, not what is stored.
 */
export class AdmissionCheck {
  readonly #parts: AdmissionCheckParts;
  #last: { readonly finding: AdmissionFinding; readonly at: number } | undefined;

  constructor(parts: AdmissionCheckParts) {
    this.#parts = parts;
  }

  /** The finding for this role of ours, at most ten minutes old. Rejects when the cluster does not answer. */
  async finding(role: string): Promise<AdmissionFinding> {
    const now = this.#parts.clock.monotonic();
    const last = this.#last;
    const keptMs = last?.finding === 'limited' ? TRUSTED_MS : RETRY_MS;
    if (last && now - last.at < keptMs) return last.finding;
    const finding = await this.#ask(role);
    this.#last = { finding, at: now };
    return finding;
  }

  async #ask(role: string): Promise<AdmissionFinding> {
    const { clusterRoles, form } = this.#parts;
    const members = {
      apiGroups: [form.apiGroup],
      resources: ['groups'],
      resourceNames: [FORBIDDEN_GROUP],
      verbs: [form.verb],
    };
    for (const rule of [members, EVERYTHING]) {
      const refusal = await clusterRoles
        .patch(role, { rules: [rule] }, { dryRun: true })
        .then(() => undefined, refusalOf);
      if (refusal === undefined) return { fault: NO_POLICY };
      if (!BY_ADMISSION.test(refusal)) return { fault: NO_RIGHT };
    }
    return 'limited';
  }
}

/** Why the cluster refuses; rejects again when it does not answer. */
function refusalOf(error: unknown): string {
  if (!(error instanceof ClusterError) || error.status.code >= 500 || error.status.code === 429) throw error;
  return error.status.message;
}
