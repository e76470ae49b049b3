import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { TokenReviewWebhook } from '../../oauth/endpoints/token-review.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type AnswerWriter, wholeBody } from '../answer/answer.ts';
import { toJsonBytes } from '../answer/document.ts';
import type { BodyReader } from '../answer/read-body.ts';
import type { Handler, Route } from '../exchange.ts';
import { atPace, createRefusalPace } from '../refusal-pace.ts';

export interface TokenReviewRouteParts {
  readonly reviews: TokenReviewWebhook;
  readonly bodies: BodyReader;
  readonly writer: AnswerWriter;
  readonly clock: Clock;
}

/** A review holds one token of at most 8 KiB and a few names: above, 413. */
const LONGEST_REVIEW = 64 * 1024;

/** N-57: an answer holds for this moment only. The API server keeps it for as long as its own settings say. */
const NO_STORE = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', Pragma: 'no-cache' };

/**
 * The TokenReview webhook. It is public like all of /oauth, because it checks credentials of its own kind. It has a
 * pace of its own, so that callers who are refused here wait only for each other.
 */
export function tokenReviewRoutes(parts: TokenReviewRouteParts): Route[] {
  return [
    {
      template: '/oauth/authenticate',
      access: 'public',
      admission: 'other',
      readsForm: true,
      produces: 'json',
      methods: { POST: atPace(createRefusalPace(parts.clock), reviewHandler(parts)) },
    },
  ];
}

/** Ignores the query: the API server appends its own time limit. */
function reviewHandler({ reviews, bodies, writer }: TokenReviewRouteParts): Handler {
  return async (exchange) => {
    const { headers, socket } = exchange.request;
    const { source, requestId, ownRequestId } = exchange;
    const origin = { source, requestId, ownRequestId };
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

/**
 * The common name, DNS names and URIs of a client certificate that its client has proven and `clientCAFile` vouches
 * for. Empty without such a certificate. `authorized` alone would not do: for a resumed session that never had a
 * certificate, it rests on how the TLS library reports that.
 */
function clientCertificateNames(socket: Socket): readonly string[] {
  const certificate = socket instanceof TLSSocket && socket.authorized ? socket.getPeerX509Certificate() : undefined;
  if (!certificate) return [];
  const { CN } = certificate.toLegacyObject().subject as { readonly CN?: string | readonly string[] };
  // With several common names nobody can say which one is meant, so none counts.
  return [...(typeof CN === 'string' ? [CN] : []), ...alternativeNames(certificate.subjectAltName)];
}

const KINDS = ['DNS:', 'URI:'];

/**
 * Parses `DNS:a.example, URI:"odd \u002c one", IP Address:192.0.2.1`. Node puts a value in quotes, with its commas
 * escaped, when it has a comma, a quote or anything but visible ASCII. So each part is one name, and a quoted one
 * cannot be a name that anybody listed.
 */
function alternativeNames(text = ''): string[] {
  return text
    .split(', ')
    .filter((part) => KINDS.some((kind) => part.startsWith(kind)))
    .map((part) => part.slice(4))
    .filter((name) => !name.startsWith('"'));
}

/** Whether the client has shown a certificate at all, whoever vouches for it. */
const hasShownCertificate = (socket: Socket): boolean =>
  socket instanceof TLSSocket && socket.getPeerX509Certificate() !== undefined;
