import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { inShort } from '../parts/trouble.tsx';
import { t } from '../texts/text.ts';
import { hrefTo } from './address.ts';
import { Preferences } from './preferences.tsx';
import { person, signOut } from './session.ts';

/** Who is signed in, the way to the account, the language, the colours, and the way out. */
export function PersonMenu() {
  const menu = useRef<HTMLDetailsElement>(null);
  const fault = useSignal('');
  const close = (): void => {
    if (menu.current) menu.current.open = false;
  };
  const leave = async (): Promise<void> => {
    const refusal = await signOut();
    fault.value = refusal ? inShort(refusal) : '';
  };
  return (
    <details
      class="person"
      ref={menu}
      onKeyDown={({ key }) => {
        if (key === 'Escape') close();
      }}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget instanceof Element && !menu.current?.contains(relatedTarget)) close();
      }}
    >
      <summary>
        <bdi>{person.value?.user ?? ''}</bdi>
      </summary>
      <div class="menu">
        <a href={hrefTo(['account'])} onClick={close}>
          {t().views.account}
        </a>
        <Preferences />
        <button type="button" onClick={() => void leave()}>
          {t().account.signOut}
        </button>
        {fault.value !== '' && <p role="alert">{fault.value}</p>}
      </div>
    </details>
  );
}
