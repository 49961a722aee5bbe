import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { PublicEvents } from './event-relay.ts'

const DELTA = 'transcript.text.delta'
const DONE = 'transcript.text.done'

/** The public events of transcriptions in the chunks of vLLM, which finish once for each piece of a recording, and in
 *  Mistral's. */
export function publicTranscript(): PublicEvents {
  let said: string | undefined
  return {
    of(event) {
      if (event.object === 'transcription.chunk') {
        const delta = asText(asRecord(asRecord(asList(event.choices)[0]).delta).content)
        said = (said ?? '') + delta
        return { type: DELTA, delta }
      }
      if (event.type === 'transcription.text.delta') return { type: DELTA, delta: asText(event.text) }
      return event.type === 'transcription.done' ? { ...event, ...usageIn(event), type: DONE } : undefined
    },
    last: () => (said === undefined ? undefined : { type: DONE, text: said }),
  }
}

function usageIn({ usage }: JsonRecord) {
  if (!isRecord(usage)) return {}
  const { prompt_tokens: input_tokens = 0, completion_tokens: output_tokens = 0, total_tokens = 0 } = usage
  return { usage: { ...usage, type: 'tokens', input_tokens, output_tokens, total_tokens } }
}
