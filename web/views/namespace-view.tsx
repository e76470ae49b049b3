import { type KubernetesObject, type ObjectList, textAt } from '../api/objects.ts';
import { hrefTo } from '../app/address.ts';
import { resourcesRoot } from '../app/settings.ts';
import { usePolled } from '../app/use-live.ts';
import type { ViewProps } from '../app/views.ts';
import { withCarets } from '../logs/log-text.ts';
import { Facts, words } from '../parts/facts.tsx';
import { Loading } from '../parts/loading.tsx';
import { State } from '../parts/state.tsx';
import { Age } from '../parts/time.tsx';
import { Title } from '../parts/title.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { Yaml } from '../parts/yaml.tsx';
import { t } from '../texts/text.ts';
import { NamespaceParts } from './namespace-parts.tsx';

/**
 * One namespace: what is in it, and what the reader may do there. It comes from the list of those that the reader may see, which has it
 * also for those who may not get it by its name (KD-11).
 */
export function NamespaceView({ parts: [name = ''] }: ViewProps) {
  const query = new URLSearchParams({ permitted: 'true', names: name });
  const polled = usePolled<ObjectList>(`${resourcesRoot()}/namespaces?${query}`);
  const found = polled.value.value?.items[0];
  const phase = textAt(found?.status, 'phase');
  return (
    <>
      <Title text={name}>
        <a href={hrefTo(['namespaces'])} class="up">
          {t().views.namespaces}
        </a>{' '}
        <bdi>{withCarets(name)}</bdi>{' '}
        {phase !== '' && <State tone={phase === 'Active' ? 'good' : 'warn'}>{phase}</State>}
      </Title>
      {polled.refusal.value && <Trouble refusal={polled.refusal.value} again={() => polled.again()} />}
      {!polled.value.value && !polled.refusal.value && (
        <p class="soft">
          <Loading />
        </p>
      )}
      {polled.value.value && !found && <Unlisted name={name} />}
      {found && <NamespaceFacts namespace={found} />}
      <NamespaceParts name={name} />
      {found && (
        <>
          <h2>YAML</h2>
          <Yaml value={found} label={`YAML: ${name}`} />
        </>
      )}
    </>
  );
}

/** A namespace that is not among those. The question for it alone is answered with the right that is missing, or says that it is not there. */
function Unlisted({ name }: { readonly name: string }) {
  const { value, refusal } = usePolled<KubernetesObject>(`${resourcesRoot()}/namespaces/${encodeURIComponent(name)}`);
  if (refusal.value) return <Trouble refusal={refusal.value} />;
  return value.value ? <NamespaceFacts namespace={value.value} /> : null;
}

function NamespaceFacts({ namespace: { metadata } }: { readonly namespace: KubernetesObject }) {
  return (
    <Facts
      facts={[
        [t().table.age, <Age key="age" since={metadata.creationTimestamp} />],
        [t().table.labels, words(metadata.labels, t().more)],
        [t().table.annotations, words(metadata.annotations, t().more)],
      ]}
    />
  );
}
