import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { runTool } from '../support/control-plane/clients.ts';
import { render } from './helm.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-rendered-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('the program in the image takes the configuration file that the chart renders', async () => {
  const config = join(folder, 'config.yaml');
  await writeFile(config, (await render()).configFile);
  const checked = await runTool(process.execPath, [...inject('program'), '--check-config', '--config', config]);
  expect(checked).toBe('the configuration is good\n');
});
