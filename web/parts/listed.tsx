import type { ComponentChildren } from 'preact';
import type { LiveList } from '../live/live-list.ts';
import { t } from '../texts/text.ts';
import { Loading } from './loading.tsx';
import { ageText } from './time.tsx';
import { Trouble } from './trouble.tsx';

/** From this age on, the age of data is said. */
const OLD_SECONDS = 60;

/** What is to be said about a list: how many there are, over what, whether it follows, what waits, and what is wrong. */
export function Listed({
  list,
  noun,
  children,
}: {
  readonly list: LiveList;
  readonly noun: string;
  readonly children?: ComponentChildren;
}) {
  const texts = t().table;
  const [total, namespaces, refusal, waiting] = [
    list.total.value,
    list.namespaces.value,
    list.refusal.value,
    list.waiting.value,
  ];
  return (
    <>
      <div class="listed">
        <span role="status">
          {total === undefined ? refusal ? '' : <Loading /> : texts.total(total, noun)}
          {namespaces !== undefined && <span class="soft"> · {texts.permitted(namespaces)}</span>}
          {list.age.value > OLD_SECONDS && <span class="old"> · {texts.old(ageText(list.age.value))}</span>}
        </span>
        {total !== undefined && !refusal && <Following list={list} />}
        {waiting > 0 && (
          <button type="button" class="badge" onClick={() => list.showWaiting()}>
            {texts.changes(waiting)}
          </button>
        )}
        {children}
      </div>
      {refusal && <Trouble refusal={refusal} again={() => list.again()} />}
    </>
  );
}

/** Whether changes come as they happen. Nobody can know it while an answer is late; a refusal is said below. */
function Following({ list }: { readonly list: LiveList }) {
  const texts = t().table;
  if (list.isSlow.value)
    return (
      <span class="old" role="status">
        {t().slow}
      </span>
    );
  const isLive = list.isLive.value;
  return (
    <span
      class={isLive ? 'live on' : 'live'}
      title={isLive ? texts.liveTitle : list.isPolled ? texts.polledTitle : texts.pollTitle}
    >
      {isLive ? texts.live : texts.poll}
    </span>
  );
}
