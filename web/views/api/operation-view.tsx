import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Confirm } from '../../parts/confirm.tsx';
import { Copied } from '../../parts/copied.tsx';
import { Field } from '../../parts/field.tsx';
import { t } from '../../texts/text.ts';
import { type Answer, tryOut } from './answer.ts';
import { AnswerPart } from './answer-part.tsx';
import type { Description, Operation } from './description.ts';
import { exampleText } from './example.ts';
import { ParameterField } from './parameter-field.tsx';
import { Prose } from './prose.tsx';
import { BELOW, BODY, curlOf, keyOf, missingIn, requestOf, type Typed } from './request.ts';

interface OperationViewProps {
  readonly operation: Operation;
  readonly description: Description;
}

/** One operation: what it does and takes, a form to try it with one's own rights, and the same call for a shell. */
export function OperationView({ operation, description }: OperationViewProps) {
  const texts = t().explorer;
  const { summary, isSent, caller } = operation;
  const typed = useSignal<Typed>({ [BODY]: exampleText(operation, description) });
  return (
    <>
      <p lang="en">
        <strong>{summary}</strong>
      </p>
      {operation.description !== '' && <Prose text={operation.description} />}
      <RequestForm
        operation={operation}
        description={description}
        typed={typed.value}
        onInput={(key, value) => (typed.value = { ...typed.value, [key]: value })}
      />
      <section aria-labelledby="curl">
        <h2 id="curl">curl</h2>
        {!isSent && <p>{texts.curlOnly}</p>}
        {caller === 'person' && <p class="soft">{texts.token}</p>}
        <Copied text={curlOf(operation, typed.value, location.origin)} />
      </section>
    </>
  );
}

interface RequestFormProps extends OperationViewProps {
  readonly typed: Typed;
  onInput(key: string, value: string): void;
}

function RequestForm({ operation, description, typed, onInput }: RequestFormProps) {
  const texts = t().explorer;
  const { method, parameters, isSent, body, path } = operation;
  const answer = useSignal<Answer | undefined>(undefined);
  const [isAsking, missing] = [useSignal(false), useSignal<readonly string[]>([])];
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const go = async (): Promise<void> => {
    stop.current?.abort();
    const own = new AbortController();
    stop.current = own;
    await tryOut(requestOf(operation, typed), own.signal, (news) => {
      if (stop.current === own) answer.value = news;
    });
  };
  const submit = (): void => {
    missing.value = missingIn(operation, typed);
    if (missing.value.length > 0) return;
    if (method === 'GET') void go();
    else isAsking.value = true;
  };
  return (
    <>
      <form
        class="form request"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {path.endsWith('/*') && (
          <Field
            label={texts.below(path.slice(0, -1))}
            value={typed[BELOW] ?? ''}
            hint={texts.belowHint}
            onInput={(value) => onInput(BELOW, value)}
          />
        )}
        {parameters.map((parameter) => (
          <ParameterField
            key={keyOf(parameter)}
            {...{ parameter, description, value: typed[keyOf(parameter)] ?? '' }}
            onInput={(value) => onInput(keyOf(parameter), value)}
          />
        ))}
        {body && <BodyField contentType={body.contentType} value={typed[BODY] ?? ''} onInput={onInput} />}
        {missing.value.length > 0 && (
          <p class="fault" role="alert">
            {texts.missing(missing.value.join(', '))}
          </p>
        )}
        {isSent && (
          <p class="actions">
            <button type="submit" class="main">
              {texts.send}
            </button>
          </p>
        )}
      </form>
      {isAsking.value && (
        <Confirm
          title={`${method} ${requestOf(operation, typed).address}`}
          action={texts.send}
          act={() => {
            void go();
            return Promise.resolve(undefined);
          }}
          onClose={() => (isAsking.value = false)}
        >
          <p>{texts.changes}</p>
        </Confirm>
      )}
      {answer.value && <AnswerPart answer={answer.value} onStop={() => stop.current?.abort()} />}
    </>
  );
}

interface BodyFieldProps {
  readonly contentType: string;
  readonly value: string;
  onInput(key: string, value: string): void;
}

function BodyField({ contentType, value, onInput }: BodyFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>
        {t().explorer.body} <span class="soft">{contentType}</span>
      </label>
      <textarea
        id={id}
        rows={Math.min(24, Math.max(4, value.split('\n').length + 1))}
        spellcheck={false}
        value={value}
        onInput={({ currentTarget }) => onInput(BODY, currentTarget.value)}
      />
    </div>
  );
}
