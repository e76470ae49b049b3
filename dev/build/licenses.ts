import type { Package } from './packages.ts';

/** The licences of all packages in the image, as one text. Packages with the same text are listed together. */
export function licensesText(packages: readonly Package[]): string {
  const byText = new Map<string, string[]>();
  for (const { name, version, license, licenseTexts } of packages) {
    const text = licenseTexts.join('\n\n') || `The package has no file about its licence, which is ${license}.`;
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const parts = [...byText].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`);
  return `Gatehouse contains these packages, whole or in part.\n\n${parts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}
