import { STORE_NAMES, storeJars } from '../log-stores/store-tools.ts';
import { clusterTools } from '../support/cluster-tools.ts';
import { wycheproofFolder } from '../support/wycheproof.ts';

/**
 * `node test/cluster/build-tools.ts`: fetches the tools of the tiers that need Go, and the log stores, and prints where each of them is.
 */
console.log(`wycheproof ${await wycheproofFolder()}`);
// The stores wait for the network, the builds for the processor.
const [tools] = await Promise.all([clusterTools(), printStores()]);
for (const [name, path] of Object.entries(tools)) console.log(`${name} ${path}`);

async function printStores(): Promise<void> {
  for (const name of STORE_NAMES) console.log(`${name} ${(await storeJars(name)).lib}`);
}
