import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { SLOW_MS } from '../api/call.ts';
import { t } from '../texts/text.ts';

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
