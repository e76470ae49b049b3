import { notesOf } from './notes.ts';

/** The files that name the release, as texts. */
export interface Named {
  /** The tag in the repository, `v` and a version. */
  readonly tag: string;
  readonly manifest: { readonly version: string };
  readonly chart: {
    readonly version: string;
    readonly appVersion: string;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly changelog: string;
}

/** Where these files differ from the version of the tag, a sentence for each place. Empty if the tag may be released. */
export function versionProblems({ tag, manifest, chart, changelog }: Named): string[] {
  const version = /^v(\d+\.\d+\.\d+(?:-[\w.]+)?)$/.exec(tag)?.[1];
  if (version === undefined) return [`the tag ${tag} is not a version with a v before it`];
  const named: readonly (readonly [string, string | undefined])[] = [
    ['version in package.json', manifest.version],
    ['version in Chart.yaml', chart.version],
    ['appVersion in Chart.yaml', chart.appVersion],
    ['the image in the annotations of Chart.yaml', /gatehouse:(\S+)/.exec(chart.annotations[IMAGES] ?? '')?.[1]],
  ];
  const others = named.filter(([, found]) => found !== version);
  const problems = others.map(([where, found]) => `${where} is ${found ?? 'missing'}, the tag says ${version}`);
  if (!notesOf(changelog, version)) problems.push(`CHANGELOG.md has no section [${version}] with a text`);
  return problems;
}

const IMAGES = 'artifacthub.io/images';
