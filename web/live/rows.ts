import type { KubernetesObject } from '../api/objects.ts';

/** The objects on and near the screen, by their places in the list. */
export type Rows = ReadonlyMap<number, KubernetesObject>;
