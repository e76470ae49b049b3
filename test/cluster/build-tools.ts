import { STORE_NAMES, storeJars } from '../log-stores/store-tools.ts';
import { clusterTools } from '../support/cluster-tools.ts';
import { wycheproofFolder } from '../support/wycheproof.ts';

/**
 * `node test/cluster/build-tools.ts`: fetches the tools of the tiers that need Go, and the log stores, and prints where each of them is.
 */
console.log(`wycheproof ${await wycheproofFolder()}`);
for (const name of STORE_NAMES) console.log(`${name} ${(await storeJars(name)).lib}`);
const tools = await clusterTools();
for (const [name, path] of Object.entries(tools)) console.log(`${name} ${path}`);
