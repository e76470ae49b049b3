/**
 * What `make` makes of each element, in the order of the elements. At most `most` are under way at a time. After a failure, or when the
 * signal aborts, no further one begins. Rejects with the first failure, or with the reason of the signal.
 */
export async function mapAtOnce<Element, Made>(
  elements: readonly Element[],
  make: (element: Element) => Promise<Made>,
  { most, signal }: { readonly most: number; readonly signal: AbortSignal },
): Promise<Made[]> {
  const made: Made[] = [];
  let next = 0;
  let hasFailed = false;
  const work = async (): Promise<void> => {
    while (next < elements.length && !hasFailed && !signal.aborted) {
      const at = next++;
      made[at] = await make(elements[at] as Element).catch((error) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, elements.length) }, work));
  signal.throwIfAborted();
  return made;
}
