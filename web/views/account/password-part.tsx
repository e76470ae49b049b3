import { useSignal } from '@preact/signals';
import { call } from '../../api/call.ts';
import type { Refusal } from '../../api/refusal.ts';
import { signIn } from '../../app/session.ts';
import { accountsRoot } from '../../app/settings.ts';
import { elsewhere, Field, faultOf } from '../../parts/field.tsx';
import { State } from '../../parts/state.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { t } from '../../texts/text.ts';
import { brokenRules, PASSWORD_RULES } from './password-rules.ts';

/** The server's word for a current password that is not the current one (AC-61). */
const WRONG_CURRENT = /incorrect old password/;

/** A form to change one's own password. All sessions end by it, this one too (AC-60). */
export function PasswordPart({ user }: { readonly user: string }) {
  const texts = t().accountPage;
  const [current, wanted, repeated] = [useSignal(''), useSignal(''), useSignal('')];
  const refusal = useSignal<Refusal | undefined>(undefined);
  const isBusy = useSignal(false);
  const isRepeatedWrong = repeated.value !== '' && repeated.value !== wanted.value;
  const isWrongCurrent = WRONG_CURRENT.test(refusal.value?.message ?? '');
  const isReady =
    current.value !== '' && repeated.value === wanted.value && brokenRules(wanted.value).length === 0 && !isBusy.value;
  const change = async (): Promise<void> => {
    isBusy.value = true;
    const body = { currentPassword: current.value, password: wanted.value };
    const outcome = await call(`${accountsRoot()}/users/${encodeURIComponent(user)}/password`, { method: 'PUT', body });
    isBusy.value = false;
    if (outcome.ok) return signIn();
    refusal.value = outcome.refusal;
  };
  const other = isWrongCurrent ? undefined : elsewhere(refusal.value, ['password']);
  return (
    <section class="card" aria-labelledby="password">
      <h2 id="password">{texts.password}</h2>
      <p class="soft">{texts.passwordEnds}</p>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void change();
        }}
      >
        <input type="text" value={user} autocomplete="username" readOnly hidden />
        <Field
          {...{ label: texts.current, isSecret: true, autocomplete: 'current-password', value: current.value }}
          fault={isWrongCurrent ? texts.wrongCurrent : ''}
          onInput={(value) => {
            current.value = value;
            refusal.value = undefined;
          }}
        />
        <Field
          {...{ label: texts.wanted, isSecret: true, autocomplete: 'new-password', value: wanted.value }}
          fault={faultOf(refusal.value, 'password')}
          hint={<Rules password={wanted.value} />}
          onInput={(value) => (wanted.value = value)}
        />
        <Field
          {...{ label: texts.repeated, isSecret: true, autocomplete: 'new-password', value: repeated.value }}
          fault={isRepeatedWrong ? texts.notTheSame : ''}
          onInput={(value) => (repeated.value = value)}
        />
        {other && <Trouble refusal={other} />}
        <p class="actions">
          <button type="submit" class="main" disabled={!isReady}>
            {texts.changePassword}
          </button>
        </p>
      </form>
    </section>
  );
}

/** The rules, each with whether the password keeps it. */
function Rules({ password }: { readonly password: string }) {
  const broken = brokenRules(password);
  const shown = PASSWORD_RULES.filter((rule) => rule !== 'long' || broken.includes('long'));
  return (
    <ul class="rules">
      {shown.map((rule) => (
        <li key={rule}>
          <State tone={!broken.includes(rule) ? 'good' : password === '' ? 'idle' : 'bad'}>
            {t().passwordRules[rule]}
          </State>
        </li>
      ))}
    </ul>
  );
}
