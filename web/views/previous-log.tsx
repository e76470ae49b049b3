import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { callText, type Outcome } from '../api/call.ts';
import type { Refusal } from '../api/refusal.ts';
import { withCarets } from '../logs/log-text.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Loading } from '../parts/loading.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { t } from '../texts/text.ts';

/** Why a container ended stands at the end of its log. */
const LINES = 500;
/** The end of what is shown, in characters: lines may be of any length. The parameter `limitBytes` of the API would keep the beginning. */
const SHOWN = 1_000_000;

interface PreviousLogProps {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  onClose(): void;
}

/** The log of the container before it was started again, from the kubelet through the gateway, as `kubectl logs --previous`. */
export function PreviousLog({ namespace, pod, container, onClose }: PreviousLogProps) {
  const texts = t().containers;
  const text = useSignal<string | undefined>(undefined);
  const refusal = useSignal<Refusal | undefined>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    const read = async (): Promise<void> => {
      try {
        const outcome = await previousLog({ namespace, pod, container }, stop.signal);
        if (outcome.ok) text.value = outcome.value.slice(-SHOWN);
        else refusal.value = outcome.refusal;
      } catch {
        // The dialog is closed.
      }
    };
    void read();
    return () => stop.abort();
  }, []);
  return (
    <Dialog title={`${texts.previous}: ${container}`} onClose={onClose}>
      {refusal.value && <Trouble refusal={refusal.value} />}
      {text.value === undefined && !refusal.value && (
        <p class="soft">
          <Loading />
        </p>
      )}
      {text.value === '' && <p>{texts.noPrevious}</p>}
      {text.value && (
        <>
          <p class="soft">{texts.lastLines(LINES)}</p>
          <pre class="previous" tabIndex={0}>
            {withCarets(text.value)}
          </pre>
        </>
      )}
    </Dialog>
  );
}

type Container = Omit<PreviousLogProps, 'onClose'>;

/** Rejects when the signal aborts. */
async function previousLog({ namespace, pod, container }: Container, signal: AbortSignal): Promise<Outcome<string>> {
  const query = new URLSearchParams({ container, previous: 'true', timestamps: 'true', tailLines: `${LINES}` });
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log`;
  return callText(`${path}?${query}`, { signal });
}
