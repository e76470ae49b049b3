/** Above this part of what can be allocated, little is left for what comes. */
const NEARLY_FULL = 90;

interface BarProps {
  /** What the bar stands for, for those who do not see it. */
  readonly label: string;
  readonly percent: number;
  /** The amounts, such as `3.5 of 4`. */
  readonly title: string;
}

/** A part of a whole: a bar and the number. More than all is a full bar with its number. */
export function Bar({ label, percent, title }: BarProps) {
  const shown = Math.min(100, Math.max(0, percent));
  return (
    <span class="bar" title={title}>
      <span
        class={percent >= NEARLY_FULL ? 'track nearly-full' : 'track'}
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={shown}
        aria-valuetext={`${Math.round(percent)} %, ${title}`}
        style={{ '--filled': `${shown}%` }}
      />
      <span class="percent">{Math.round(percent)} %</span>
    </span>
  );
}
