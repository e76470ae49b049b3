import { clusterTools } from '../support/cluster-tools.ts';
import { wycheproofFolder } from '../support/wycheproof.ts';

/** `node test/cluster/build-tools.ts`: fetches what the tiers that need Go work with, and prints where each thing is. */
console.log(`wycheproof ${await wycheproofFolder()}`);
const tools = await clusterTools();
for (const [name, path] of Object.entries(tools)) console.log(`${name} ${path}`);
