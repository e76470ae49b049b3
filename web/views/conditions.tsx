import { type KubernetesObject, listAt, textAt } from '../api/objects.ts';
import { withCarets } from '../logs/log-text.ts';
import { State, type Tone } from '../parts/state.tsx';
import { Age } from '../parts/time.tsx';
import { t } from '../texts/text.ts';

interface ConditionsProps {
  readonly object: KubernetesObject;
  toneOf(condition: unknown): Tone;
}

/** What an object says about its state: that is also why a pod waits. Nothing where it says nothing. */
export function Conditions({ object, toneOf }: ConditionsProps) {
  const texts = t().conditions;
  const conditions = listAt(object.status, 'conditions');
  if (conditions.length === 0) return null;
  return (
    <section aria-labelledby="conditions">
      <h2 id="conditions">{texts.title}</h2>
      <div class="scrolled">
        <table>
          <thead>
            <tr>
              <th scope="col">{texts.type}</th>
              <th scope="col">{texts.status}</th>
              <th scope="col">{texts.since}</th>
              <th scope="col">{texts.reason}</th>
              <th scope="col">{texts.message}</th>
            </tr>
          </thead>
          <tbody>
            {conditions.map((condition) => (
              <tr key={textAt(condition, 'type')}>
                <th scope="row">{textAt(condition, 'type')}</th>
                <td>
                  <State tone={toneOf(condition)}>{textAt(condition, 'status')}</State>
                </td>
                <td>
                  <Age since={textAt(condition, 'lastTransitionTime')} />
                </td>
                <td>{textAt(condition, 'reason')}</td>
                <td>
                  <bdi>{withCarets(textAt(condition, 'message'))}</bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** Conditions of pods, workloads and most custom resources that are well when they are true. */
const WELL_WHEN_TRUE: ReadonlySet<string> = new Set([
  ...['PodScheduled', 'PodReadyToStartContainers', 'Initialized', 'ContainersReady', 'Ready'],
  ...['Available', 'Progressing', 'Complete', 'Established', 'NamesAccepted'],
]);
const ILL_WHEN_TRUE: ReadonlySet<string> = new Set(['Failed', 'ReplicaFailure', 'Stalled']);

/** How a condition of any kind is shown. What one does not know says neither good nor bad. */
export function toneOfCondition(condition: unknown): Tone {
  const [type, status] = [textAt(condition, 'type'), textAt(condition, 'status')];
  if (ILL_WHEN_TRUE.has(type)) return status === 'False' ? 'good' : 'bad';
  if (!WELL_WHEN_TRUE.has(type) || textAt(condition, 'reason') === 'PodCompleted') return 'idle';
  return status === 'True' ? 'good' : 'warn';
}
