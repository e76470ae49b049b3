import { hrefTo } from '../app/address.ts';
import { settings } from '../app/settings.ts';
import { t } from '../texts/text.ts';

/** The kinds whose logs can be followed (docs/contract/gateway.md, section 13), and searched by the names of their pods. */
const WITH_LOGS: ReadonlySet<string> = new Set([
  ...['pods', 'deployments', 'replicasets', 'statefulsets', 'daemonsets', 'jobs'],
]);

interface LogLinksProps {
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
}

/** Where the log store is searched for a pod, for all pods of a workload, or for one container. */
export function storedLogs({ plural, namespace, name }: LogLinksProps, container = ''): string {
  const whose = plural === 'pods' ? { pods: name } : { workloads: name };
  return hrefTo(['logs'], { range: '24h', namespaces: namespace, ...whose, containers: container });
}

/** Links to the logs of a pod or a workload, as far as this server has them; only to the first of them if there is little room. */
export function LogLinks({ isShort = false, ...props }: LogLinksProps & { readonly isShort?: boolean }) {
  const { plural, namespace, name } = props;
  const { logs, gateway } = settings().features;
  if (!WITH_LOGS.has(plural) || !(logs || gateway)) return null;
  return (
    <span class="log-links">
      {logs && (
        <a href={storedLogs(props)} aria-label={`${t().logs.stored}: ${name}`}>
          {t().logs.stored}
        </a>
      )}
      {gateway && !(logs && isShort) && (
        <a href={hrefTo(['live-logs', plural, namespace, name])} aria-label={`${t().logs.live}: ${name}`}>
          {t().logs.live}
        </a>
      )}
    </span>
  );
}
