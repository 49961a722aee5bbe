import * as z from 'zod'

/** The members of a call's `metadata` that the gateway reads; all others are the client's. The gateway has no prompt
 *  templates, so that a reference to one is refused instead of ignored. */
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
