import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { withCarets } from '../logs/log-text.ts';
import { t } from '../texts/text.ts';
import type { ShownPods } from './shown-pods.ts';

interface PodChoiceProps {
  readonly pods: ShownPods;
  /** Names that are not shown. New ones are. */
  readonly hiddenPods: Signal<ReadonlySet<string>>;
  readonly hiddenContainers: Signal<ReadonlySet<string>>;
}

/** Which pods and containers are shown. */
export function PodChoice({ pods, hiddenPods, hiddenContainers }: PodChoiceProps) {
  const texts = t().liveLogs;
  const all = [...pods.pods.value.values()];
  const containers = pods.containers.value;
  if (all.length === 0) return null;
  return (
    <details>
      <summary>
        {texts.pods(all.filter(({ isHere }) => isHere).length)}
        {containers.length > 1 && ` · ${texts.containers}: ${containers.length}`}
      </summary>
      <fieldset class="choice">
        <legend class="unseen">{texts.pods(all.length)}</legend>
        <button type="button" onClick={() => (hiddenPods.value = new Set())}>
          {texts.allPods}
        </button>
        <button type="button" onClick={() => (hiddenPods.value = new Set(all.map(({ name }) => name)))}>
          {texts.noPods}
        </button>
        {all.map(({ name, colour, isHere }) => (
          <Choice key={name} name={name} hidden={hiddenPods}>
            <span class={`swatch pod-${colour}`} aria-hidden="true" />
            <bdi>{withCarets(name)}</bdi>
            {!isHere && <span class="soft">({texts.gone})</span>}
          </Choice>
        ))}
      </fieldset>
      {containers.length > 1 && (
        <fieldset class="choice">
          <legend class="unseen">{texts.containers}</legend>
          <span class="soft">{texts.containers}</span>
          {containers.map((name) => (
            <Choice key={name} name={name} hidden={hiddenContainers}>
              <bdi>{withCarets(name)}</bdi>
            </Choice>
          ))}
        </fieldset>
      )}
    </details>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly hidden: Signal<ReadonlySet<string>>;
  readonly children: ComponentChildren;
}

function Choice({ name, hidden, children }: ChoiceProps) {
  const choose = (isShown: boolean): void => {
    const names = new Set(hidden.value);
    if (isShown) names.delete(name);
    else names.add(name);
    hidden.value = names;
  };
  return (
    <label>
      <input
        type="checkbox"
        checked={!hidden.value.has(name)}
        onChange={({ currentTarget }) => choose(currentTarget.checked)}
      />
      {children}
    </label>
  );
}
