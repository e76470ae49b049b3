import { z } from 'zod';
import { section } from './fields.ts';

export const page = section({
  enabled: z
    .boolean()
    .default(true)
    .describe(
      'Whether this server serves the page for people, at `/`, and lets it call the API with the session of a signed-in browser, in place of a bearer token.',
    ),
}).describe('The page for people.');
