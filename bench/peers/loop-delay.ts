/** Node looks at its loop so often, and counts this into every value. */
const RESOLUTION_MS = 10;

/** From the text of a Prometheus page, without the resolution of the measurement; the 99th percentile unless told. */
export function loopDelayOf(page: string, name: 'p99' | 'max' = 'p99'): number {
  const seconds = new RegExp(`^nodejs_eventloop_lag_${name}_seconds(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(page)?.[1];
  return Math.max(0, Number(seconds) * 1_000 - RESOLUTION_MS);
}

/** How late the event loop was since the last time this was asked, in milliseconds. */
export async function loopDelayMs({ metricsUrl }: { readonly metricsUrl: string }): Promise<number> {
  return loopDelayOf(await fetch(metricsUrl).then((answer) => answer.text()));
}
