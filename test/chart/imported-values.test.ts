import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { importConfig } from '../../src/cli/import-config/import-config.ts';
import { SHAPES } from '../unit/import-config/shapes.ts';
import { render } from './helm.ts';

const readFile = (path: string): never => {
  throw new Error(`no file ${path}`);
};

/** What `import-config` prints of an old file, and with `--chart` of the same. */
function printed(text: string, secretsFolder: string) {
  const [config, values] = [false, true].map((forChart) => {
    const outcome = importConfig(text, { secretsFolder, forChart, readFile });
    if ('fault' in outcome) throw new Error(outcome.fault);
    return parse(outcome.text);
  });
  return { config, values };
}

test.each(Object.entries(SHAPES))(
  'values that import-config makes of %s render the configuration that it makes',
  async (_, text) => {
    const { config, values } = printed(text, '/var/run/secrets/gatehouse/imported');
    const { passwordFile, ...logging } = config.logging ?? {};
    const rendered = (await render(values)).config as Record<string, Record<string, object>>;
    expect(rendered).toMatchObject({ ...config, ...(config.logging && { logging }) });
    expect(rendered['logging']?.['passwordFile']).toBe(passwordFile && '/var/run/secrets/gatehouse/log-store/password');
  },
);
