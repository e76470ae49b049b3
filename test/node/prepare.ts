import { clusterTools } from '../support/cluster-tools.ts';
import { imageArchives } from './image/images.ts';

/** `node test/node/prepare.ts`: builds programs and images where they are missing, while the package registries can be reached. */
await clusterTools();
const began = performance.now();
await imageArchives();
console.log(`the images are there after ${Math.round((performance.now() - began) / 1000)} s`);
