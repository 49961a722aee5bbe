import * as z from 'zod'
import { topics } from '../../../telemetry/topics.ts'
import { moment } from '../moment.ts'

/** The filters of dead letters. */
export const lettersWithin = () => ({
  topic: z
    .enum(topics.map(({ name }) => name))
    .optional()
    .describe('Those of this topic alone.'),
  died_before: moment().optional().describe('Those that were refused before this moment.'),
})
