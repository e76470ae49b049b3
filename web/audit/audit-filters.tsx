import { address } from '../app/address.ts';
import { Chosen, TimeAndOrder } from '../documents/search-filters.tsx';
import { t } from '../texts/text.ts';
import { ChoiceFilter, Filters, TextFilter } from '../views/filters.tsx';
import { auditFilters, CHANGES } from './audit-query.ts';

/** The verbs of Kubernetes' API (kubernetes.io/docs/reference/access-authn-authz/authorization, "Determine the request verb"). */
const VERBS = ['get', 'list', 'watch', ...CHANGES.split(',')];
const RESOURCES = ['pods', 'deployments', 'services', 'configmaps', 'secrets', 'namespaces', 'nodes', 'users'];
const CODES = ['401', '403', '404', '409', '422', '500'];

/** What the search of audit records is narrowed by. All of it is in the address. */
export function AuditFilters() {
  const texts = t().audit;
  const { short } = auditFilters(address.value.parameters);
  return (
    <>
      <Filters>
        <TextFilter name="user" label={texts.user} title={texts.partTitle} />
        <ChoiceFilter
          name="verb"
          label={texts.verb}
          choices={[[CHANGES, texts.changes], ...VERBS.map((verb) => [verb, verb] as const)]}
        />
        <TextFilter name="resource" label={texts.resource} suggestions={RESOURCES} />
        <TextFilter name="name" label={texts.name} title={texts.partTitle} />
        <TextFilter name="namespace" label={texts.namespace} />
        <TextFilter name="source" label={texts.source} title={texts.partTitle} />
        <TextFilter name="code" label={texts.code} suggestions={CODES} />
        <TimeAndOrder />
      </Filters>
      <Chosen names={texts.chosen} />
      {short.length > 0 && (
        <p class="soft" role="status">
          {texts.short(short.map((name) => texts[name]).join(', '))}
        </p>
      )}
    </>
  );
}
