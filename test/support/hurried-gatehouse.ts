import { readFileSync } from 'node:fs';
import { loadConfig } from '../../src/config/load.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLoopLoad } from '../../src/runtime/loop-load.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { createService } from '../../src/service/service.ts';
import { hurriedClock } from './hurried-clock.ts';
import { madeUpPage } from './made-up-page.ts';

/**
 * Gatehouse as a process in which ages and waits pass `factor` times as fast. Its wall clock, which tokens use, is the normal one.
 * Arguments: the configuration file and the factor. Ends at SIGTERM.
 */
const [configPath = '', factor = '1'] = process.argv.slice(2);

const { config } = loadConfig(configPath, (path) => readFileSync(path, 'utf8'));
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
const service = await createService(config, {
  clock: hurriedClock(Number(factor)),
  random: systemRandom,
  loopLoad: createLoopLoad(systemClock),
  logger: createLogger(config.log, process.stdout),
  release: { version: '0.0.0', gitCommit: 'unknown', gitTreeState: 'unknown', buildDate: '1970-01-01T00:00:00Z' },
  runtime: { nodeVersion: process.version, platform: 'linux/amd64' },
  environment: {},
  description: readFileSync(new URL('../../api/platform.openapi.yaml', import.meta.url), 'utf8'),
  crdDescription: readFileSync(new URL('../../api/crd.openapi.yaml', import.meta.url), 'utf8'),
  page: madeUpPage,
});
await service.run(stop.signal);
