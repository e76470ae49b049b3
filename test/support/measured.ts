/**
 * Says how long this row of `docs/chaos.md` took in this run, for the figures that the page gives as "once". They are
 * printed and not asserted. The row's test asserts how long it may take, on the clock that the test drives if it has
 * one.
 */
export function tellMeasured(id: string, ms: number, what: string): void {
  process.stdout.write(`${id}: ${(ms / 1000).toFixed(3)} s ${what}\n`);
}
