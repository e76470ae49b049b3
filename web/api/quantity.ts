/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
const SUFFIXES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The number that a quantity stands for; `undefined` if it is none. For bars and sums on a screen: a double is exact enough. */
export function parseQuantity(text: string): number | undefined {
  const [, digits = '', suffix = ''] = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]{0,2})$/.exec(text) ?? [];
  const factor = SUFFIXES[suffix];
  const value = Number(digits);
  return digits === '' || factor === undefined || Number.isNaN(value) ? undefined : value * factor;
}

/** Bytes with three digits at most, as `12.4 GiB`. */
export function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let [value, step] = [bytes, 0];
  while (value >= 1024 && step < units.length - 1) [value, step] = [value / 1024, step + 1];
  return `${value >= 100 || step === 0 ? Math.round(value) : value.toFixed(1).replace(/\.0$/, '')} ${units[step]}`;
}

/** Processors with two decimals at most, as `3.5`. */
export const coresText = (cores: number): string => String(cores >= 100 ? Math.round(cores) : Number(cores.toFixed(2)));
