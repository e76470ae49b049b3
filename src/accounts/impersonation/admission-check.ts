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

/** What the check found: `limited`, or in one sentence why our roles must not get more names. */
export type AdmissionFinding = 'limited' | { readonly fault: string };

export interface AdmissionCheckParts {
  readonly clusterRoles: Pick<ClusterObjects, 'patch'>;
  readonly clock: Clock;
  readonly form: ImpersonationForm;
}

/**
 * Checks that the cluster's admission limits what our account may write into its roles. Our account has `escalate` on these roles, so
 * without the chart's ValidatingAdmissionPolicy a thief of our token could give it every right. The check is a dry run that the
 * policy must refuse: it changes nothing, needs no other right, and is true of the cluster as it is, whatever policies it has.
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
    const rule = {
      apiGroups: [form.apiGroup],
      resources: ['groups'],
      resourceNames: [FORBIDDEN_GROUP],
      verbs: [form.verb],
    };
    try {
      await clusterRoles.patch(role, { rules: [rule] }, { dryRun: true });
    } catch (error) {
      if (!(error instanceof ClusterError) || error.status.code >= 500 || error.status.code === 429) throw error;
      const { message } = error.status;
      if (/ValidatingAdmissionPolicy '|admission webhook "[^"]*" denied the request/.test(message)) return 'limited';
      return { fault: 'the cluster does not let this server change the ClusterRoles of gateway.accounts' };
    }
    return {
      fault:
        'no admission policy limits what this server writes into the ClusterRoles of gateway.accounts: install that of the chart',
    };
  }
}
