import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import type { TrialFailure } from '../../../pipeline/trial/trial.ts'

/** Why a trial of a provider failed, for administrators. */
export const trialFailure = lazily(() =>
  z.object({
    code: z.string().describe('The kind of failure, as in `error.code` and `error.type` of calls.'),
    message: z.string(),
    param: z.string().nullable(),
    words: z.string().nullable().describe("The provider's own words, with credentials masked."),
    advice: z.string().describe('What to change.'),
  }),
)

export function shownFailure({ failure, words, advice }: TrialFailure): z.output<ReturnType<typeof trialFailure>> {
  return {
    code: failure.code ?? failure.failure,
    message: failure.message,
    param: failure.details.param ?? null,
    words: words ?? null,
    advice,
  }
}
