/**
 * Says how long this row of `docs/chaos.md` took in this run, for the figures that the page gives as "once". They are told
 * and not asserted: what a row may take is asserted by its test, on the clock that the test drives where it has one.
 */
export function tellMeasured(id: string, ms: number, what: string): void {
  process.stdout.write(`${id}: ${(ms / 1000).toFixed(3)} s ${what}\n`);
}
