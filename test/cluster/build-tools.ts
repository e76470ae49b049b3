import { clusterTools } from '../support/cluster-tools.ts';
import { wycheproofFolder } from '../support/wycheproof.ts';

/**
 * `node test/cluster/build-tools.ts`: fetches the tools of the tiers that need Go, and prints where each of them is.
 */
console.log(`wycheproof ${await wycheproofFolder()}`);
const tools = await clusterTools();
for (const [name, path] of Object.entries(tools)) console.log(`${name} ${path}`);
