import { useId } from 'preact/hooks';
import { t } from '../../texts/text.ts';
import { type Description, type Parameter, resolved, type Schema } from './description.ts';
import { Prose } from './prose.tsx';

interface ParameterFieldProps {
  readonly parameter: Parameter;
  readonly description: Description;
  readonly value: string;
  onInput(value: string): void;
}

/** A parameter of an operation: its name, what it takes, and a field for it. */
export function ParameterField({ parameter, description, value, onInput }: ParameterFieldProps) {
  const { name, in: place, required, description: about = '' } = parameter;
  const id = useId();
  const schema = resolved<Schema>(parameter.schema as Schema & { readonly $ref: string }, description) ?? {};
  const words = wordsOf(schema);
  const attributes = { id, value, 'aria-describedby': about === '' ? undefined : `${id}-about` };
  return (
    <div class="field parameter">
      <label for={id}>
        <code>{name}</code>
        <span class="soft">
          {' '}
          {[place, ...typeWords(schema), required ? t().explorer.required : ''].filter(Boolean).join(' · ')}
        </span>
      </label>
      {words.length > 0 ? (
        <select {...attributes} onChange={({ currentTarget }) => onInput(currentTarget.value)}>
          <option value="">{t().explorer.notSent}</option>
          {words.map((word) => (
            <option key={word} value={word}>
              {word}
            </option>
          ))}
        </select>
      ) : (
        <input
          type="text"
          {...attributes}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          placeholder={schema.default === undefined ? '' : String(schema.default)}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
      {about !== '' && <Prose text={about} id={`${id}-about`} />}
    </div>
  );
}

/** The words that a parameter takes, if it takes no others. */
function wordsOf(schema: Schema): readonly string[] {
  if (schema.const !== undefined) return [String(schema.const)];
  if (schema.enum) return schema.enum.map(String);
  return schema.type === 'boolean' ? ['true', 'false'] : [];
}

/** A longer pattern says less than the description of the parameter. */
const LONGEST_PATTERN = 24;

/** The type and the bounds of a value, in the words of JSON Schema. */
function typeWords({ type, minimum, maximum, pattern, default: usual }: Schema): readonly string[] {
  return [
    [type ?? []].flat().join(' | '),
    minimum === undefined ? '' : `≥ ${minimum}`,
    maximum === undefined ? '' : `≤ ${maximum}`,
    pattern !== undefined && pattern.length <= LONGEST_PATTERN ? pattern : '',
    usual === undefined ? '' : `${t().explorer.usual} ${String(usual)}`,
  ];
}
