import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { call } from '../api/call.ts';
import type { Refusal } from '../api/refusal.ts';
import { hrefTo } from '../app/address.ts';
import { settings } from '../app/settings.ts';
import { untilAnswered } from '../live/until-answered.ts';
import { Loading } from '../parts/loading.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { t } from '../texts/text.ts';

const LINKS = ['pods', 'deployments', 'statefulsets', 'daemonsets', 'jobs', 'services', 'configmaps'] as const;

/** What is in a namespace, and what the reader may do there. */
export function NamespaceParts({ name }: { readonly name: string }) {
  return (
    <>
      {settings().features.kinds && (
        <ul class="links">
          {LINKS.map((plural) => (
            <li key={plural}>
              <a href={hrefTo(['resources', plural], { namespace: name })} aria-label={`${plural}: ${name}`}>
                {plural}
              </a>
            </li>
          ))}
        </ul>
      )}
      {settings().features.gateway && <Rights namespace={name} />}
    </>
  );
}

interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface RulesReview {
  readonly status?: { readonly resourceRules?: readonly ResourceRule[]; readonly incomplete?: boolean };
}

/** The cluster's own answer to what the reader may do there (SelfSubjectRulesReview, as `kubectl auth can-i --list`). */
function Rights({ namespace }: { readonly namespace: string }) {
  const texts = t().rights;
  const review = useSignal<RulesReview | undefined>(undefined);
  const refusal = useSignal<Refusal | undefined>(undefined);
  const ask = async (): Promise<Refusal | undefined> => {
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } };
    const outcome = await call<RulesReview>('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
      method: 'POST',
      body,
    });
    if (outcome.ok) review.value = outcome.value;
    refusal.value = outcome.ok ? undefined : outcome.refusal;
    return refusal.value;
  };
  useEffect(() => {
    const stop = new AbortController();
    void untilAnswered(ask, stop.signal);
    return () => stop.abort();
  }, [namespace]);
  const rules = review.value?.status?.resourceRules ?? [];
  return (
    <section aria-labelledby="rights">
      <h2 id="rights">{texts.title}</h2>
      {refusal.value && <Trouble refusal={refusal.value} again={() => void ask()} />}
      {!review.value && !refusal.value && (
        <p class="soft">
          <Loading />
        </p>
      )}
      {review.value?.status?.incomplete && <p class="soft">{texts.incomplete}</p>}
      {rules.length > 0 && (
        <div class="scrolled">
          <table>
            <thead>
              <tr>
                <th scope="col">{texts.resources}</th>
                <th scope="col">{texts.groups}</th>
                <th scope="col">{texts.verbs}</th>
              </tr>
            </thead>
            <tbody>
              {rules.map((rule) => (
                <tr key={JSON.stringify(rule)}>
                  <td>
                    {[...(rule.resources ?? []), ...(rule.resourceNames ?? []).map((name) => `(${name})`)].join(', ')}
                  </td>
                  <td>{(rule.apiGroups ?? []).map((group) => group || t().why.coreGroup).join(', ')}</td>
                  <td>{rule.verbs.join(', ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
