import { FairSeats } from '../runtime/limits/fair-seats.ts';
import { mapAtOnce } from '../runtime/limits/map-at-once.ts';

/**
 * The most reviews in flight, for one subject and for all, as in `access-review-authorizer.ts`: more would only wait there, or be refused
 * together with the subject's other requests.
 */
const REVIEWS_OF_ONE = 16;
const REVIEWS_OF_ALL = 64;

/** Creates the seats that the reviews of many namespaces share, of all callers and features. */
export const createReviewSeats = (): FairSeats =>
  new FairSeats({ count: REVIEWS_OF_ALL, allows: (_, held) => held < REVIEWS_OF_ONE });

export interface NamespaceReviewParts {
  /** Made by `createReviewSeats`. */
  readonly seats: FairSeats;
  /** The subject whose turn each review takes. */
  readonly subject: string;
  readonly signal: AbortSignal;
}

/**
 * The elements that pass the test, in their order. The tests are access reviews: they run concurrently, in turn with those of other
 * subjects. Rejects when the first test rejects, and when the signal aborts.
 */
export async function filterByReview<Element>(
  elements: readonly Element[],
  passes: (element: Element) => boolean | Promise<boolean>,
  { seats, subject, signal }: NamespaceReviewParts,
): Promise<Element[]> {
  const ask = async (element: Element): Promise<boolean> => {
    if ((await seats.take(subject, signal)) !== 'taken') throw signal.reason;
    try {
      return await passes(element);
    } finally {
      seats.release(subject);
    }
  };
  const answers = await mapAtOnce(elements, ask, { most: REVIEWS_OF_ONE, signal });
  return elements.filter((_, at) => answers[at]);
}
