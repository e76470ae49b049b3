import type { ComponentChildren } from 'preact';

export type Tone = 'good' | 'bad' | 'warn' | 'idle';

/** Each tone has a shape of its own, because colours alone say nothing to many people. */
const SHAPES: Readonly<Record<Tone, string>> = {
  good: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2Zm-1.1 8.9 4.3-4.3-1-1-3.3 3.3-1.4-1.4-1 1 2.4 2.4Z',
  bad: 'M5.2 2h5.6L14 5.2v5.6L10.8 14H5.2L2 10.8V5.2L5.2 2Zm.9 3-1.1 1.1L6.9 8 5 9.9 6.1 11 8 9.1 9.9 11l1.1-1.1L9.1 8 11 6.1 9.9 5 8 6.9 6.1 5Z',
  warn: 'M8 1.8 15 14H1L8 1.8ZM7.3 6v4h1.4V6H7.3Zm0 5v1.4h1.4V11H7.3Z',
  idle: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2Zm0 1.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM5 7.3h6v1.4H5V7.3Z',
};

/** A state as a word, with a shape and a colour. */
export function State({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return (
    <span class={`state ${tone}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path fill-rule="evenodd" d={SHAPES[tone]} />
      </svg>
      <span>{children}</span>
    </span>
  );
}
