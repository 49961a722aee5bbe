import { GatewayError } from '../../lib/errors.ts'
import type { ArrivingForm } from '../../lib/forms/arriving-form.ts'
import { editedForm, type Fields } from '../../lib/forms/form-parts.ts'
import { parseRecord } from '../../lib/json/lenient.ts'
import type { TranscriptionRequest } from '../../modes/audio-transcription.ts'
import type { RequestForm } from '../../modes/form.ts'
import { usageOf } from '../../modes/usage.ts'
import type { Adapter, Connection, Reply } from '../provider.ts'
import { formFields } from '../wire/form-fields.ts'
import { readSeconds } from '../wire/transcript/read-seconds.ts'
import { lastCueEnd } from '../wire/transcript/subtitles.ts'
import { openaiEmbeddedFailure, openaiFailure } from './failure.ts'
import { eventRelay } from './json.ts'
import { openaiUsage } from './usage.ts'

const utf8 = new TextDecoder()
const PLAIN = new Set(['text', 'srt', 'vtt'])

/** Transcription: the client's form is relayed while it arrives, with the model renamed and the operator's defaults added
 *  for fields that the client left out. */
export const openaiTranscription: Adapter<TranscriptionRequest> = {
  request({ form }, connection) {
    if (!form) throw new TypeError('a transcription is asked for by a form')
    const { model, defaults } = connection
    return {
      method: 'POST',
      origin: connection.origin,
      path: `${connection.basePath}/audio/transcriptions`,
      headers: { ...connection.headers, 'content-type': form.raw.contentType, accept: '*/*' },
      upload: editedForm(form.raw, { ...withheld(form), model }, added(defaults, form.raw)),
    }
  },
  reply(bytes, headers, { body: request }): Reply {
    const contentType = headers['content-type'] ?? 'text/plain; charset=utf-8'
    if (PLAIN.has(request.response_format ?? '')) {
      if (/\bhtml\b/i.test(contentType)) throw malformed()
      // Plain answers report no usage, but subtitles contain the time of their end.
      const audioSeconds = request.response_format === 'text' ? undefined : lastCueEnd(utf8.decode(bytes))
      const usage = audioSeconds ? usageOf({ audioSeconds, estimated: true }) : undefined
      return { bytes, contentType, usage, outputCharacters: bytes.byteLength }
    }
    const body = parseRecord(bytes)
    if (body?.error) throw openaiEmbeddedFailure(body.error)
    if (typeof body?.text !== 'string') throw malformed()
    const reported = body.usage as { seconds?: unknown } | undefined
    const audioSeconds = readSeconds(reported?.seconds ?? body.duration) ?? 0
    const usage = openaiUsage(body.usage) ?? (audioSeconds > 0 ? usageOf({ audioSeconds }) : undefined)
    return { bytes, contentType: 'application/json', usage, outputCharacters: body.text.length }
  },
  stream: () => eventRelay(/\.done$/),
  events: ({ text, logprobs, usage }) => {
    const more = { ...(logprobs ? { logprobs } : {}), ...(usage ? { usage } : {}) }
    return [
      { type: 'transcript.text.delta', delta: text },
      { type: 'transcript.text.done', text, ...more },
    ]
  },
  failure: openaiFailure,
}

/** Withheld fields are sent empty. */
function withheld({ withheld: names = [] }: RequestForm): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, '']))
}

/** The operator's defaults for fields that the client left out. undefined without defaults, so that the length of the form
 *  stays known. */
function added(defaults: Connection['defaults'], form: ArrivingForm): (() => Fields) | undefined {
  const { voice_id: _voice, ...set } = defaults
  if (Object.keys(set).length === 0) return undefined
  return () => {
    const sent = new Set(form.parts.map(({ name }) => name.replace(/\[\]$/, '')))
    return Object.entries(set).flatMap(([name, value]) => (sent.has(name) ? [] : formFields(name, value)))
  }
}

function malformed(): GatewayError {
  return new GatewayError('upstream_malformed', "The provider's answer is not a transcription.")
}
