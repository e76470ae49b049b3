import { clusterTools } from '../support/cluster-tools.ts';

/** `node test/cluster/build-tools.ts`: builds what the cluster and chart tiers need, and prints where each program is. */
const tools = await clusterTools();
for (const [name, path] of Object.entries(tools)) console.log(`${name} ${path}`);
