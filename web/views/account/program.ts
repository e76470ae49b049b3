const BROWSERS: readonly (readonly [name: string, version: RegExp])[] = [
  // Each of them names those below it too.
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:Chrome|HeadlessChrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+)\S* (?:Mobile\/\S+ )?Safari\//],
];

const SYSTEMS: readonly (readonly [name: string, word: RegExp])[] = [
  ['Android', /\bAndroid\b/],
  ['iOS', /\b(?:iPhone|iPad)\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac ?OS ?X\b|\bMacintosh\b/],
  ['Linux', /\bLinux\b|\bX11\b/],
];

/** No browser says more; somebody else may, to keep the reader's browser busy. */
const LONGEST = 512;

/** The program of a `User-Agent`, short: `Chrome 141, Linux` for a browser, otherwise what stands in front. */
export function programOf(sent: string): string {
  const userAgent = sent.slice(0, LONGEST);
  for (const [name, version] of BROWSERS) {
    const found = userAgent.startsWith('Mozilla/') ? version.exec(userAgent)?.[1] : undefined;
    if (found === undefined) continue;
    const system = SYSTEMS.find(([, word]) => word.test(userAgent))?.[0];
    return system === undefined ? `${name} ${found}` : `${name} ${found}, ${system}`;
  }
  return userAgent.trim().split(/\s+/)[0] ?? '';
}
