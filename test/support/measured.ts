/**
 * Prints how long this row of `docs/chaos.md` took in this run, for the figures that the page calls "once". It asserts nothing: the test
 * of the row asserts the time limit, on its own clock if it has one.
 */
export function tellMeasured(id: string, ms: number, what: string): void {
  process.stdout.write(`${id}: ${(ms / 1000).toFixed(3)} s ${what}\n`);
}
