import { describeConformance } from '../conformance/conformance.ts';
import { startSimulatedTarget } from '../simulated-target.ts';
import { FAULTS } from './faults.ts';
import { startFaultyProxy } from './faulty-proxy.ts';

/**
 * The conformance suite on a simulated cluster with the fault that the environment names. It is in no tier, because most runs must fail.
 * `test/planted` runs it.
 */
const name = process.env['PLANTED_FAULT'] ?? '';
const fault = FAULTS[name];
if (!fault) throw new Error(`no such fault: ${name}`);

describeConformance(name, async () => {
  const target = await startSimulatedTarget();
  const proxy = await startFaultyProxy(target.url, fault);
  return {
    ...target,
    url: proxy.url,
    stop: async () => {
      await proxy.stop();
      await target.stop();
    },
  };
});
