import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { address, hrefTo, setParameters } from '../app/address.ts';
import { useKindTitle } from '../app/kinds.ts';
import { resourcesRoot, settings } from '../app/settings.ts';
import type { ViewProps } from '../app/views.ts';
import { LiveLogs as Stream } from '../live-logs/live-logs.ts';
import { PodChoice } from '../live-logs/pod-choice.tsx';
import { RowList } from '../live-logs/row-list.tsx';
import { fileText, shownRows } from '../live-logs/shown-rows.ts';
import { storedLogs } from '../logs/log-links.tsx';
import { patternOfText, withCarets } from '../logs/log-text.ts';
import { Loading } from '../parts/loading.tsx';
import { fileName, saveFile } from '../parts/save-file.ts';
import { Title } from '../parts/title.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { t } from '../texts/text.ts';
import { Filters, TextFilter } from './filters.tsx';

/** How many lines of each container may come first. */
const TAILS = [100, 0, 10, 1_000, 5_000];

/** The logs of all pods of a workload, or of one pod, as they are written: `kind/namespace/name`. */
export function LiveLogs({ parts: [plural = '', namespace = '', name = ''] }: ViewProps) {
  const kinds = useKindTitle(plural);
  const tail = TAILS.find((count) => `${count}` === address.value.parameters['tail']) ?? 100;
  return (
    <>
      <Title text={`${t().liveLogs.title}: ${name}`}>
        <a href={hrefTo(['resources', plural], { namespace })} class="up">
          {kinds}
        </a>{' '}
        <a href={hrefTo(['resources', plural, namespace, name])} class="up">
          <bdi>{withCarets(name)}</bdi>
        </a>{' '}
        {t().liveLogs.title}
      </Title>
      <Followed key={tail} {...{ plural, namespace, name, tail }} />
    </>
  );
}

interface FollowedProps {
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
  readonly tail: number;
}

function Followed({ plural, namespace, name, tail }: FollowedProps) {
  const texts = t().liveLogs;
  const place = [plural, name].map(encodeURIComponent).join('/');
  const path = `${resourcesRoot()}/namespaces/${encodeURIComponent(namespace)}/${place}/log`;
  const stream = useMemo(() => new Stream(path, tail), []);
  useEffect(() => () => stream.close(), [stream]);
  const hiddenPods = useSignal<ReadonlySet<string>>(new Set());
  const hiddenContainers = useSignal<ReadonlySet<string>>(new Set());
  const words = address.value.parameters['words'] ?? '';
  const filter = useMemo(
    () => ({
      wanted: patternOfText(words),
      hiddenPods: hiddenPods.value,
      hiddenContainers: hiddenContainers.value,
    }),
    [words, hiddenPods.value, hiddenContainers.value],
  );
  const blocks = stream.blocks.value;
  const kept = blocks.reduce((sum, { rows }) => sum + rows.length, 0);
  const shown = blocks.reduce((sum, block) => sum + shownRows(block, filter).length, 0);
  const save = (): void => saveFile(fileName(`${namespace}-${name}`, new Date()), fileText(blocks));
  return (
    <>
      <Filters>
        <TextFilter name="words" label={texts.find} />
        <TailChoice tail={tail} />
      </Filters>
      <PodChoice pods={stream.pods} hiddenPods={hiddenPods} hiddenContainers={hiddenContainers} />
      <div class="listed">
        <StreamWords stream={stream} />
        <span class="soft">{texts.lines(shown, kept)}</span>
        <Pause stream={stream} />
        <button type="button" disabled={kept === 0} onClick={() => stream.clear()}>
          {texts.clear}
        </button>
        <button type="button" disabled={kept === 0} onClick={save}>
          {texts.save}
        </button>
        {settings().features.logs && <a href={storedLogs({ plural, namespace, name })}>{t().logs.stored}</a>}
      </div>
      <Notices stream={stream} />
      {shown > 0 ? (
        <RowList
          blocks={blocks}
          filter={filter}
          pods={stream.pods.pods.value}
          withContainers={stream.pods.containers.value.length > 1}
        />
      ) : (
        <Empty stream={stream} isFiltered={kept > 0} />
      )}
    </>
  );
}

/** What is said in the place of lines. */
function Empty({ stream, isFiltered }: { readonly stream: Stream; readonly isFiltered: boolean }) {
  const texts = t().liveLogs;
  if (isFiltered) return <p class="empty">{texts.noneShown}</p>;
  if (stream.refusal.value) return null;
  return <p class="empty">{stream.state.value === 'opening' ? <Loading /> : texts.none}</p>;
}

function TailChoice({ tail }: { readonly tail: number }) {
  return (
    <label class="filter">
      {t().liveLogs.tail}
      <select value={tail} onChange={({ currentTarget }) => setParameters({ tail: currentTarget.value })}>
        {TAILS.toSorted((a, b) => a - b).map((count) => (
          <option key={count} value={count}>
            {t().liveLogs.tails(count)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What the stream is doing, and what of it is not shown. */
function StreamWords({ stream }: { readonly stream: Stream }) {
  const texts = t().liveLogs;
  const { state, more, dropped } = stream;
  return (
    <span role="status">
      <span class={state.value === 'open' ? 'live on' : 'live'}>{texts.states[state.value]}</span>
      {more.value && <span> · {texts.more(more.value.shown, more.value.pods)}</span>}
      {dropped.value > 0 && <span class="soft"> · {texts.dropped(dropped.value)}</span>}
    </span>
  );
}

function Pause({ stream }: { readonly stream: Stream }) {
  const texts = t().liveLogs;
  const { value: isPaused } = stream.isPaused;
  return (
    <>
      <button type="button" aria-pressed={isPaused} onClick={() => stream.pause(!isPaused)}>
        {texts.pause}
      </button>
      {isPaused && <span class="old">{texts.waiting(stream.waiting.value)}</span>}
      {stream.isWaitingFull.value && <span class="old">{texts.waitingFull}</span>}
    </>
  );
}

/** Why nothing comes, where that is so. */
function Notices({ stream }: { readonly stream: Stream }) {
  const texts = t().liveLogs;
  const { state, refusal, end, isClusterAway } = stream;
  return (
    <>
      {state.value === 'elsewhere' && <p class="soft">{texts.elsewhereText}</p>}
      {isClusterAway.value && state.value === 'open' && <p class="old">{texts.clusterAway}</p>}
      {refusal.value && <Trouble refusal={refusal.value} again={() => stream.again()} />}
      {end.value && (
        <p>
          {Object.entries(texts.ends).find(([reason]) => reason === end.value?.reason)?.[1] ?? end.value.message}{' '}
          <button type="button" onClick={() => stream.again()}>
            {t().again}
          </button>
        </p>
      )}
    </>
  );
}
