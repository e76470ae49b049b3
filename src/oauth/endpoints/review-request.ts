import { parseStrictObject } from '../tokens/strict-json.ts';
import { invalidRequest } from './refusals.ts';

/**
 * The question of a TokenReview:
 * https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1/
 */
export interface ReviewRequest {
  readonly apiVersion: string;
  /** `''` when there is none: Go omits an empty one. */
  readonly token: string;
  /** Absent, or has at least one. */
  readonly audiences?: readonly string[];
}

/** RFC 8259 11: JSON is UTF-8, and a charset parameter may only repeat that. */
const JSON_TYPE = /^application\/json[ \t]*(;[ \t]*charset=("utf-8"|utf-8)[ \t]*)?$/i;

/** A review nests three levels deep, or four with the metadata of an object. */
const DEEPEST = 32;

const API_VERSIONS: readonly unknown[] = ['authentication.k8s.io/v1', 'authentication.k8s.io/v1beta1'];

export function checkReviewType(contentType: string | undefined): void {
  if (!JSON_TYPE.test(contentType ?? '')) throw invalidRequest('the body must be application/json in UTF-8');
}

/** Reads a body whose size was checked as it arrived. Members that we do not know are ignored, as in Kubernetes. */
export function parseReview(body: Buffer): ReviewRequest {
  const review = parseStrictObject(body, DEEPEST);
  if (!review) throw invalidRequest('the body is not one JSON object without repeated names');
  const { apiVersion, kind, spec } = review;
  if (kind !== 'TokenReview' || !API_VERSIONS.includes(apiVersion))
    throw invalidRequest('the body is not a TokenReview of authentication.k8s.io/v1 or v1beta1');
  if (!isObject(spec)) throw invalidRequest('the member spec is not an object');
  const { token = '', audiences } = spec;
  if (typeof token !== 'string') throw invalidRequest('the member spec.token is not a text');
  const asked = audiences ?? [];
  if (!isTexts(asked)) throw invalidRequest('the member spec.audiences is not a list of texts');
  return { apiVersion: apiVersion as string, token, ...(asked.length > 0 ? { audiences: asked } : {}) };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');
