import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { t } from '../texts/text.ts';

/** After this time a reader wants to know what is being waited for, and for how long (W-13). */
export const SLOW_MS = 5_000;

/** Said where an answer will be. An answer that is slow to come is said to be so; `isSlow`: it is already. */
export function Loading({ isSlow: isSlowAlready = false }: { readonly isSlow?: boolean }) {
  const isSlow = useSignal(isSlowAlready);
  useEffect(() => {
    const timer = setTimeout(() => (isSlow.value = true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <>
      {t().loading}
      {isSlow.value && <span class="old"> {t().slow}</span>}
    </>
  );
}
