import { describeConformance } from '../support/conformance/conformance.ts';
import { startSimulatedTarget } from '../support/simulated-target.ts';

describeConformance('the simulated cluster', startSimulatedTarget);
