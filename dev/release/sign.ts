import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cliFile } from './cli.ts';
import { executableFile, PLATFORMS } from './executables.ts';
import { CHART_FILE, IMAGE_FILE, type Place, type PushedChart, type PushedImage, sbomFile } from './place.ts';
import { provenance } from './provenance.ts';
import { run } from './run.ts';

/**
 * Signs the pushed image and chart by digest, and attaches provenance and bills of materials as signed statements. Signs the files for
 * laptops with a signature file beside each. cosign signs with the identity of the workflow (keyless), so no key can be lost.
 */
export async function signRelease(
  { out, version }: Pick<Place, 'out' | 'version'>,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const { image, platforms } = (await readJson(join(out, IMAGE_FILE))) as PushedImage;
  const { chart } = (await readJson(join(out, CHART_FILE))) as PushedChart;
  const built = join(out, 'provenance.json');
  await writeFile(built, JSON.stringify(provenance(environment), undefined, 2));
  const cosign = (...args: string[]): Promise<void> => run('cosign', args);
  const attest = (type: string, file: string, what: string): Promise<void> =>
    cosign('attest', '--yes', '--type', type, '--predicate', file, what);
  // Recursive, because somebody may pull the image of one processor by its own digest.
  await cosign('sign', '--yes', '--recursive', image);
  await cosign('sign', '--yes', chart);
  for (const what of [image, ...Object.values(platforms), chart]) await attest('slsaprovenance1', built, what);
  for (const [arch, one] of Object.entries(platforms)) await attest('cyclonedx', join(out, sbomFile(arch)), one);
  for (const name of [cliFile(version), ...PLATFORMS.map((platform) => executableFile(version, platform))]) {
    const file = join(out, name);
    await cosign('sign-blob', '--yes', '--bundle', `${file}.sigstore.json`, file);
  }
}

const readJson = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, 'utf8'));
