import { useSignal } from '@preact/signals';
import { at, type KubernetesObject, listAt, numberAt, textAt } from '../api/objects.ts';
import { settings } from '../app/settings.ts';
import { storedLogs } from '../logs/log-links.tsx';
import { withCarets } from '../logs/log-text.ts';
import { State } from '../parts/state.tsx';
import { Age } from '../parts/time.tsx';
import { t } from '../texts/text.ts';
import { PreviousLog } from './previous-log.tsx';

/** The containers of a pod: what they run, how they are, and how the last one ended. */
export function PodContainers({ pod }: { readonly pod: KubernetesObject }) {
  const texts = t().containers;
  const groups = [
    ['initContainers', 'initContainerStatuses'],
    ['containers', 'containerStatuses'],
  ] as const;
  return (
    <section aria-labelledby="containers">
      <h2 id="containers">{texts.title}</h2>
      <div class="scrolled">
        <table>
          <thead>
            <tr>
              <th scope="col">{t().table.name}</th>
              <th scope="col">{t().columns.status}</th>
              <th scope="col">{texts.since}</th>
              <th scope="col" class="number">
                {t().columns.restarts}
              </th>
              <th scope="col">{texts.lastEnd}</th>
              <th scope="col">{t().columns.images}</th>
              {settings().features.logs && <th scope="col">{t().logs.stored}</th>}
            </tr>
          </thead>
          <tbody>
            {groups.flatMap(([containers, statuses]) =>
              listAt(pod.spec, containers).map((container) => (
                <ContainerRow
                  key={textAt(container, 'name')}
                  pod={pod}
                  container={container}
                  isInitial={containers === 'initContainers'}
                  status={listAt(pod.status, statuses).find((one) => textAt(one, 'name') === textAt(container, 'name'))}
                />
              )),
            )}
          </tbody>
        </table>
      </div>
    </section>
  );
}

interface ContainerRowProps {
  readonly pod: KubernetesObject;
  readonly container: unknown;
  readonly status: unknown;
  readonly isInitial: boolean;
}

function ContainerRow({ pod, container, status, isInitial }: ContainerRowProps) {
  const [word, since] = stateOf(status);
  const tone =
    word === 'Running' ? (at(status, 'ready') === true ? 'good' : 'warn') : word === 'Completed' ? 'idle' : 'bad';
  const ended = at(status, 'lastState', 'terminated');
  return (
    <tr>
      <th scope="row">
        {textAt(container, 'name')} {isInitial && <span class="soft">{t().containers.initial}</span>}
      </th>
      <td>
        {word === '' ? <span class="soft">{t().none}</span> : <State tone={tone}>{word}</State>}
        <Message of={at(status, 'state', 'waiting') ?? at(status, 'state', 'terminated')} />
      </td>
      <td>
        <Age since={since} />
      </td>
      <td class="number">{numberAt(status, 'restartCount')}</td>
      <td>
        {ended !== undefined && (
          <>
            {`${endOf(ended)} `}
            <Age since={textAt(ended, 'finishedAt')} />
            <Message of={ended} />
            {settings().features.gateway && <PreviousLogButton pod={pod} container={textAt(container, 'name')} />}
          </>
        )}
      </td>
      <td>
        <bdi>{withCarets(textAt(container, 'image'))}</bdi>
      </td>
      {settings().features.logs && (
        <td>
          <a
            href={logsOf(pod, textAt(container, 'name'))}
            aria-label={`${t().logs.stored}: ${textAt(container, 'name')}`}
          >
            {t().logs.stored}
          </a>
        </td>
      )}
    </tr>
  );
}

function PreviousLogButton({ pod, container }: { readonly pod: KubernetesObject; readonly container: string }) {
  const isOpen = useSignal(false);
  const { namespace = '', name } = pod.metadata;
  return (
    <p>
      <button type="button" onClick={() => (isOpen.value = true)}>
        {t().containers.previous}
      </button>
      {isOpen.value && <PreviousLog {...{ namespace, pod: name, container }} onClose={() => (isOpen.value = false)} />}
    </p>
  );
}

/** What the kubelet says about a state, or the container left behind when it ended. */
function Message({ of }: { readonly of: unknown }) {
  const message = textAt(of, 'message');
  return message === '' ? null : (
    <p class="soft">
      <bdi>{withCarets(message)}</bdi>
    </p>
  );
}

const logsOf = ({ metadata: { namespace = '', name } }: KubernetesObject, container: string): string =>
  storedLogs({ plural: 'pods', namespace, name }, container);

/** What a container does now, and since when. */
function stateOf(status: unknown): readonly [word: string, since: string] {
  if (at(status, 'state', 'running') !== undefined) return ['Running', textAt(status, 'state', 'running', 'startedAt')];
  const waiting = textAt(status, 'state', 'waiting', 'reason');
  if (waiting !== '') return [waiting, ''];
  const ended = at(status, 'state', 'terminated');
  return ended === undefined ? ['', ''] : [endOf(ended), textAt(ended, 'finishedAt')];
}

/** How a container ended: `Completed`, `Error (1)`. */
function endOf(ended: unknown): string {
  const [reason, code] = [textAt(ended, 'reason'), numberAt(ended, 'exitCode')];
  if (reason === '') return `ExitCode:${code}`;
  return code === 0 ? reason : `${reason} (${code})`;
}
