import { Copied } from '../../parts/copied.tsx';
import { t } from '../../texts/text.ts';

interface ShownOnceProps {
  /** What has been done. */
  readonly said: string;
  readonly password: string;
  readonly mustChoose: boolean;
  onClose(): void;
}

/** The first password of a user, which nobody sees again. */
export function ShownOnce({ said, password, mustChoose, onClose }: ShownOnceProps) {
  const texts = t().users;
  return (
    <div class="form">
      <p role="status">{said}</p>
      <p>
        {texts.handOver} {mustChoose && texts.thenChooses}
      </p>
      <Copied text={password} />
      <p class="actions">
        <button type="button" class="main" onClick={onClose}>
          {t().close}
        </button>
      </p>
    </div>
  );
}
