import { Enums, Models, Serialize, SPDX, Spec } from '@cyclonedx/cyclonedx-library';
import type { Package } from './packages.ts';

/** The program itself, and the folders of the packages that it names. */
export interface Program {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly needs: readonly string[];
}

/**
 * The bill of materials of the image without its base, as CycloneDX JSON. It has no date and no random number, so that two builds of
 * one commit are equal.
 */
export function billOfMaterials(program: Program, packages: readonly Package[]): string {
  const components = new Map(packages.map((one) => [one.folder, component(one, Enums.ComponentType.Library)]));
  const own = component(program, Enums.ComponentType.Application);
  link(own, program.needs);
  for (const { folder, needs } of packages) link(components.get(folder)!, needs);
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ component: own }),
    components: new Models.ComponentRepository(components.values()),
  });
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;

  function link(from: Models.Component, needs: readonly string[]): void {
    for (const folder of needs) {
      const to = components.get(folder);
      if (to) from.dependencies.add(to.bomRef);
    }
  }
}

type Described = Pick<Package, 'name' | 'version' | 'license'> & Partial<Pick<Package, 'description' | 'integrity'>>;

function component({ name, version, license, description, integrity }: Described, type: Enums.ComponentType) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const made = new Models.Component(type, name, { bomRef: purl, version, purl });
  if (description) made.description = description;
  made.licenses.add(
    SPDX.isSupportedSpdxId(license) ? new Models.SpdxLicense(license) : new Models.LicenseExpression(license),
  );
  if (integrity) made.hashes.set(Enums.HashAlgorithm['SHA-512'], sha512(integrity));
  return made;
}

/** Converts a digest of the lock file to hexadecimal digits. */
const sha512 = (integrity: string): string => Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex');
