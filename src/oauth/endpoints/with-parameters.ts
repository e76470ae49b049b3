/** The address with these parameters added to its query. Those without a value are left out. */
export function withParameters(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const pairs = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return `${uri}${uri.includes('?') ? '&' : '?'}${pairs.join('&')}`;
}
