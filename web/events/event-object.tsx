import type { ComponentChildren } from 'preact';
import type { EventRecord } from '../api/events.ts';
import type { KindResource } from '../app/kinds.ts';
import { hrefOfObject } from '../app/object-href.ts';
import { settings } from '../app/settings.ts';
import { withCarets } from '../logs/log-text.ts';

type Involved = Pick<EventRecord, 'apiVersion' | 'kind' | 'namespace' | 'name'>;

const pluralsOf = (group: string, ...kinds: readonly string[]) =>
  kinds.map((kind) => ({ kind, group, name: `${kind.toLowerCase()}s` }));

/** The kinds that nearly all events are about, so that their objects have links before the kinds of the cluster are known, and without them. */
export const COMMON_KINDS: readonly Pick<KindResource, 'kind' | 'group' | 'name'>[] = [
  ...pluralsOf('', 'Pod', 'Node', 'Namespace', 'Service', 'PersistentVolumeClaim', 'PersistentVolume'),
  ...pluralsOf('apps', 'Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet'),
  ...pluralsOf('batch', 'Job', 'CronJob'),
  ...pluralsOf('autoscaling', 'HorizontalPodAutoscaler'),
];

/** Where the object of an event is shown; `undefined` if this page does not show its kind. An event without an `apiVersion` means the common kind. */
function hrefOfInvolved(
  { apiVersion, kind, namespace, name }: Involved,
  kinds: readonly KindResource[],
): string | undefined {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
  const found = [...COMMON_KINDS, ...kinds].find(
    (one) => one.kind === kind && (apiVersion === '' || (one.group ?? '') === group),
  );
  if (found === undefined || name === '') return undefined;
  if (!settings().features.kinds && !['nodes', 'namespaces'].includes(found.name)) return undefined;
  return hrefOfObject(found.name, { metadata: namespace === '' ? { name } : { name, namespace } });
}

interface EventObjectProps {
  readonly event: Involved;
  /** The kinds of the cluster, as far as they are known. */
  readonly kinds?: readonly KindResource[];
  /** The namespace. Default: its name. */
  readonly where?: ComponentChildren;
}

/** The object that an event is about, with a link to it. */
export function EventObject({ event, kinds = [], where }: EventObjectProps) {
  const { kind, namespace, name } = event;
  const href = hrefOfInvolved(event, kinds);
  const shown = <bdi>{withCarets(name)}</bdi>;
  return (
    <>
      <span class="soft">{withCarets(kind)}</span>{' '}
      {namespace !== '' && (
        <>
          {where ?? <bdi class="soft">{withCarets(namespace)}</bdi>}
          <span class="slash">/</span>
        </>
      )}
      {href === undefined ? shown : <a href={href}>{shown}</a>}
    </>
  );
}
