import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { type RunningGatehouse, startGatehouse } from '../gatehouse.ts';
import { Corpus } from '../observed/corpus.ts';
import { OBSERVED_CONFIG, type Person, person, usersFile } from '../observed/people.ts';
import { LOG_PEOPLE } from './log-people.ts';

export interface LogStand {
  readonly gatehouse: RunningGatehouse;
  readonly corpus: Corpus;
}

export interface LogStandParts {
  readonly kubeconfig: string;
  /** `logging` of the configuration. Default: none. */
  readonly logging?: object | undefined;
  /** Further settings. */
  readonly settings?: object | undefined;
  readonly clock?: Clock;
  /** Users besides those of all recorded cases. Default: those of the cases about logs. */
  readonly people?: readonly Person[];
}

/** Starts Gatehouse for the recorded cases about logs, in front of a cluster that has their namespaces and rights. */
export async function startLogStand({
  kubeconfig,
  logging,
  settings,
  clock = systemClock,
  people = LOG_PEOPLE,
}: LogStandParts): Promise<LogStand> {
  const { platform } = OBSERVED_CONFIG;
  const users = await usersFile(people);
  const config = { ...OBSERVED_CONFIG, ...(logging && { logging }), ...settings };
  const gatehouse = await startGatehouse({ config, kubeconfig, users, clock });
  const skip = (): void => {
    throw new Error('the cases of logs do not move the clock');
  };
  const known = (name: string) => people.find((one) => one.name === name) ?? person(name);
  const corpus = new Corpus({
    port: gatehouse.port,
    platform,
    skip,
    person: (name) => ({ email: '', ...known(name) }),
  });
  return { gatehouse, corpus };
}
