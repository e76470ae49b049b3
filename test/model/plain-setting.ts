import type { Setting } from './commands.ts';

/** Every server knows WatchList, every refusal comes as a status: what a case does not say. */
export const PLAIN: Setting = {
  watchList: 'yes',
  store: 'nodes',
  base: '1',
  pageSize: 500,
  listLag: 0,
  says: 'status',
  jitter: 0,
};
