import { useSignal } from '@preact/signals';
import { at, type KubernetesObject, type ObjectList, textAt } from '../../api/objects.ts';
import { accountsRoot } from '../../app/settings.ts';
import { usePolled } from '../../app/use-live.ts';
import { Loading } from '../../parts/loading.tsx';
import { State } from '../../parts/state.tsx';
import { Age } from '../../parts/time.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { t } from '../../texts/text.ts';
import { programOf } from './program.ts';

/** At most so many are kept of a user, unless the operator says otherwise. */
const SHOWN = 100;

/** The last sign-ins of a user, with those that failed. */
export function SignIns({ user }: { readonly user: string }) {
  const texts = t().signIns;
  const isFailedOnly = useSignal(false);
  const path = `${accountsRoot()}/users/${encodeURIComponent(user)}/loginrecords?limit=${SHOWN}`;
  const polled = usePolled<ObjectList>(path, 30_000);
  const all = polled.value.value?.items ?? [];
  const failed = all.filter(hasFailed);
  const shown = isFailedOnly.value ? failed : all;
  return (
    <section aria-labelledby="sign-ins">
      <h2 id="sign-ins">{texts.title}</h2>
      {polled.refusal.value && <Trouble refusal={polled.refusal.value} again={() => polled.again()} />}
      {!polled.value.value && !polled.refusal.value && (
        <p class="soft">
          <Loading />
        </p>
      )}
      {polled.value.value && all.length === 0 && <p class="soft">{texts.none}</p>}
      {all.length > 0 && (
        <>
          <div class="listed">
            <span role="status">{texts.counts(all.length, failed.length)}</span>
            <label class="tick">
              <input
                type="checkbox"
                checked={isFailedOnly.value}
                onChange={({ currentTarget }) => (isFailedOnly.value = currentTarget.checked)}
              />
              {texts.failedOnly}
            </label>
          </div>
          <RecordTable records={shown} />
        </>
      )}
    </section>
  );
}

const hasFailed = (record: KubernetesObject): boolean => at(record.spec, 'success') !== true;

function RecordTable({ records }: { readonly records: readonly KubernetesObject[] }) {
  const texts = t().signIns;
  return (
    <div class="scrolled">
      <table aria-labelledby="sign-ins">
        <thead>
          <tr>
            <th scope="col">{texts.result}</th>
            <th scope="col">{texts.time}</th>
            <th scope="col">{texts.address}</th>
            <th scope="col">{texts.program}</th>
          </tr>
        </thead>
        <tbody>
          {records.map((record) => (
            <tr key={record.metadata.uid}>
              <td>
                <State tone={hasFailed(record) ? 'bad' : 'good'}>{resultOf(record)}</State>
              </td>
              <td>
                <Age since={record.metadata.creationTimestamp} />
              </td>
              <td>
                <bdi>{textAt(record.spec, 'sourceIP')}</bdi>
              </td>
              <td title={textAt(record.spec, 'userAgent')}>
                <bdi>{programOf(textAt(record.spec, 'userAgent')) || t().none}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Gatehouse writes three reasons; a merged record says how many attempts there were (docs/contract/accounts.md, section 8). */
function resultOf(record: KubernetesObject): string {
  const texts = t().signIns;
  const [, reason = '', count] = /^(.*?)(?: \((\d+) attempts\))?$/s.exec(textAt(record.spec, 'reason')) ?? [];
  const words = texts.reasons[reason as keyof typeof texts.reasons] ?? (reason || texts.failed);
  return count === undefined ? words : texts.attempts(words, Number(count));
}
