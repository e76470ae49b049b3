import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { type RunningGatehouse, startGatehouse } from '../gatehouse.ts';
import { Corpus } from './corpus.ts';
import { OBSERVED_CONFIG, usersFile } from './people.ts';

export interface ObservedStand {
  readonly gatehouse: RunningGatehouse;
  readonly corpus: Corpus;
}

/** Starts Gatehouse with the people and clients of the cases, in front of the cluster of this kubeconfig. */
export async function startObserved(kubeconfig: string): Promise<ObservedStand> {
  const skipped = { ms: 0 };
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + skipped.ms };
  const gatehouse = await startGatehouse({ config: OBSERVED_CONFIG, kubeconfig, users: await usersFile(), clock });
  const skip = (ms: number): void => {
    skipped.ms += ms;
  };
  return { gatehouse, corpus: new Corpus({ port: gatehouse.port, platform: OBSERVED_CONFIG.platform, skip }) };
}
