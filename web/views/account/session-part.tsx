import { useSignal } from '@preact/signals';
import type { Refusal } from '../../api/refusal.ts';
import { person, signOut } from '../../app/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Moment } from '../../parts/time.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { t } from '../../texts/text.ts';

/** The session of this browser, and the ways to end it and all others. */
export function SessionPart() {
  const texts = t().accountPage;
  const refusal = useSignal<Refusal | undefined>(undefined);
  const isAsking = useSignal(false);
  const { sessionStarted, endsAt, idleEndsAt } = person.value ?? {};
  const leave = async (): Promise<void> => {
    refusal.value = await signOut();
  };
  return (
    <section class="card" aria-labelledby="session">
      <h2 id="session">{texts.session}</h2>
      <Facts
        facts={[
          [texts.started, <Moment key="started" at={sessionStarted} />],
          [texts.ends, <Moment key="ends" at={endsAt} />],
          [texts.idleEnds, <Moment key="idle" at={idleEndsAt} />],
        ]}
      />
      {refusal.value && <Trouble refusal={refusal.value} />}
      <p class="actions">
        <button type="button" onClick={() => void leave()}>
          {texts.signOutHere}
        </button>
        <button type="button" class="danger" onClick={() => (isAsking.value = true)}>
          {texts.signOutEverywhere}
        </button>
      </p>
      {isAsking.value && (
        <Confirm
          title={texts.signOutEverywhere}
          action={texts.signOutEverywhere}
          act={() => signOut({ everywhere: true })}
          onClose={() => (isAsking.value = false)}
        >
          <p>{texts.everywhereMeans}</p>
        </Confirm>
      )}
    </section>
  );
}
