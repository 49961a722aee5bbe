import * as z from 'zod'

/** What the gateway itself reads of a call's `metadata`; anything else is the client's. A prompt that is not there would
 *  be missed in silence, and no prompt is there yet. */
export const callMetadata = (more: z.ZodRawShape = {}) =>
  z
    .looseObject({
      ...more,
      tags: z.array(z.string()).nullish().describe('Only deployments that have all of these tags.'),
    })
    .refine(({ prompt_ref }) => prompt_ref === undefined || prompt_ref === null, {
      path: ['prompt_ref'],
      error: 'there is no such prompt; this gateway has no prompt templates',
    })
