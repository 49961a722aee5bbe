import * as z from 'zod'

/** The members of a call's `metadata` that the gateway reads; all others are the client's. */
export const callMetadata = (more: z.ZodRawShape = {}) =>
  z.looseObject({
    ...more,
    tags: z.array(z.string()).nullish().describe('Only deployments that have all of these tags.'),
    cache: z
      .unknown()
      .optional()
      .describe('How the call uses the answer cache: `no-cache`, `no-store`, `force` or `{"ttl": seconds}`.'),
    prompt_ref: z
      .string()
      .nullish()
      .describe('The prompt whose messages go before those of the call: `key`, `key@3` or `key:label`.'),
    prompt_variables: z.record(z.string(), z.unknown()).nullish().describe('The values of its variables, by name.'),
  })
