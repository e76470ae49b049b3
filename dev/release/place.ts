/** Where a release is made, and where it goes. */
export interface Place {
  /** The project's folder. */
  readonly root: string;
  /** The folder for the files that later steps and the release page need. */
  readonly out: string;
  /** Host and prefix of the repositories, such as `ghcr.io/gatehouse`. */
  readonly registry: string;
  /** Without TLS: for a registry on loopback. */
  readonly plainHttp: boolean;
  readonly version: string;
}

/** What was pushed, named by its digest. */
export interface PushedImage {
  /** The list of the images of all processors. */
  readonly image: string;
  /** The image of each processor. */
  readonly platforms: Readonly<Record<string, string>>;
}

export interface PushedChart {
  readonly chart: string;
}

export const IMAGE_FILE = 'image.json';
export const CHART_FILE = 'chart.json';

/** The bill of materials of the image for one processor. */
export const sbomFile = (arch: string): string => `sbom-${arch}.cdx.json`;
