import { asList, asRecord, parseRecord } from '../../lib/json/lenient.ts'
import type { ModerationRequest } from '../../modes/moderation.ts'
import { openaiModerations } from '../openai/modes.ts'
import type { Adapter } from '../provider.ts'

const encoder = new TextEncoder()

/** Moderations in OpenAI's shape. The vendor tells only categories, which clients that ask whether a text is flagged would
 *  take for a no. */
export const mistralModerations: Adapter<ModerationRequest> = {
  ...openaiModerations,
  reply(bytes, headers, call) {
    const { usage } = openaiModerations.reply(bytes, headers, call)
    const answer = parseRecord(bytes)
    const results = asList(answer?.results)
      .map(asRecord)
      .map((one) => ({ flagged: Object.values(asRecord(one.categories)).includes(true), ...one }))
    const told = encoder.encode(JSON.stringify({ ...answer, results }))
    return { bytes: told, contentType: 'application/json', usage, outputCharacters: 0 }
  },
}
