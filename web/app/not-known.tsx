import type { Refusal } from '../api/refusal.ts';
import { t } from '../texts/text.ts';
import { signIn } from './session.ts';

/** Said in place of the page when the server does not know who has just signed in: most often, the page was opened by another address. */
export function NotKnown({ refusal }: { readonly refusal: Refusal }) {
  const texts = t().notKnown;
  return (
    <main>
      <div class="notice" role="alert">
        <p>
          <strong>{texts.title}</strong> {texts.text} <span class="said">{refusal.message}</span>
        </p>
        <p class="actions">
          <button type="button" onClick={signIn}>
            {texts.again}
          </button>
        </p>
      </div>
    </main>
  );
}
