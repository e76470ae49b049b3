import { storeJars } from '../log-stores/store-tools.ts';
import { clusterTools } from '../support/cluster-tools.ts';
import { imageArchives } from './image/images.ts';

/** `node test/node/prepare.ts`: builds programs and images, and fetches a log store, where they are missing, while the package registries can be reached. */
await clusterTools();
await storeJars('opensearch-2');
const began = performance.now();
await imageArchives();
console.log(`the images are there after ${Math.round((performance.now() - began) / 1000)} s`);
