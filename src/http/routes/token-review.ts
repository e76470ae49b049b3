import type { TokenReviewWebhook } from '../../oauth/endpoints/token-review.ts';
import { type AnswerWriter, wholeBody } from '../answer/answer.ts';
import { toJsonBytes } from '../answer/document.ts';
import type { BodyReader } from '../answer/read-body.ts';
import { clientCertificateNames, hasShownCertificate } from '../connection/client-certificate.ts';
import type { Handler } from '../exchange.ts';
import type { RouteFamily } from '../family.ts';
import { createRefusalThrottle, throttleRefusals } from '../limits/refusal-throttle.ts';
import { originOf } from '../request-origin.ts';

interface TokenReviewRouteParts {
  readonly reviews: TokenReviewWebhook;
  readonly bodies: BodyReader;
  readonly writer: AnswerWriter;
}

/** The largest body; a larger one is 413. A review has one token of at most 8 KiB and a few names. */
const LONGEST_REVIEW = 64 * 1024;

/** An answer is valid only for this moment (N-57). The API server caches it anyway, for as long as its own settings say. */
const NO_STORE = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', Pragma: 'no-cache' };

/**
 * The TokenReview webhook. It is public to the chain like all of /oauth, because it checks its own kinds of credentials. Its
 * refusals have a rate limit of their own, so that refused callers wait only for each other.
 */
export const tokenReviewFamily =
  (reviews: TokenReviewWebhook): RouteFamily =>
  (tools) => ({
    routes: [
      {
        template: '/oauth/authenticate',
        access: 'public',
        admission: 'other',
        readsForm: true,
        produces: 'json',
        methods: { POST: throttleRefusals(createRefusalThrottle(tools.clock), reviewHandler({ ...tools, reviews })) },
      },
    ],
  });

/** Ignores the query parameters, because the API server adds its own `timeout`. */
function reviewHandler({ reviews, bodies, writer }: TokenReviewRouteParts): Handler {
  return async (exchange) => {
    const { headers, socket } = exchange.request;
    const origin = originOf(exchange);
    const askedBy = reviews.checkHead({
      ...origin,
      contentType: headers['content-type'],
      authorization: headers.authorization,
      certificateNames: clientCertificateNames(socket),
      hasShownCertificate: hasShownCertificate(socket),
    });
    const body = await bodies.read(exchange, LONGEST_REVIEW);
    exchange.admit();
    const answer = reviews.review(body, { ...origin, askedBy });
    writer.send(exchange, 200, NO_STORE, wholeBody(toJsonBytes(answer)));
  };
}
