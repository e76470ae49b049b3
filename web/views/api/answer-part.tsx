import { bytesText } from '../../api/quantity.ts';
import { State } from '../../parts/state.tsx';
import { t } from '../../texts/text.ts';
import { type Answer, LONGEST_SHOWN, readable } from './answer.ts';

interface AnswerPartProps {
  readonly answer: Answer;
  /** Ends an answer that goes on. */
  onStop(): void;
}

/** What the server answered. */
export function AnswerPart({ answer, onStop }: AnswerPartProps) {
  const texts = t().explorer;
  const { status, headers, tookMs, text, isCut, isDone } = answer;
  const tone = status === 0 ? 'bad' : status < 300 ? 'good' : status < 400 ? 'idle' : 'warn';
  return (
    <section aria-labelledby="answer">
      <h2 id="answer">{texts.answer}</h2>
      <div class="listed">
        <span role="status">
          <State tone={isDone || status !== 0 ? tone : 'idle'}>
            {status !== 0 ? String(status) : isDone ? texts.noAnswer : t().loading}
          </State>
        </span>
        <span class="soft">
          {Math.round(tookMs)} ms · {bytesText(new TextEncoder().encode(text).length)}
        </span>
        {isCut && <span class="old">{texts.cut(bytesText(LONGEST_SHOWN))}</span>}
        {!isDone && (
          <button type="button" onClick={onStop}>
            {texts.stop}
          </button>
        )}
      </div>
      {headers.length > 0 && (
        <details>
          <summary>{texts.headers}</summary>
          <pre tabIndex={0}>{headers.map(([name, value]) => `${name}: ${value}`).join('\n')}</pre>
        </details>
      )}
      {text !== '' && (
        <pre class="body" role="group" tabIndex={0} aria-label={texts.body}>
          {readable(answer)}
        </pre>
      )}
    </section>
  );
}
