import { joinPieces, piecesOf } from '../../lib/bytes/pieces.ts'
import { GatewayError } from '../../lib/errors.ts'
import { parseRecord } from '../../lib/json/lenient.ts'
import type { TranscriptionRequest } from '../../modes/audio-transcription.ts'
import { type Adapter, type Connection, dropper, type Outgoing } from '../provider.ts'
import { lateField } from '../wire/late-field.ts'
import { ownTranscriptionOptions } from '../wire/transcript/own-options.ts'
import { heard, transcriptReply } from '../wire/transcript/transcript-reply.ts'
import { unsupported } from '../wire/unsupported-fields.ts'
import { deepgramEmbeddedFailure, deepgramFailure } from './failure.ts'
import { queryOptions } from './query-options.ts'
import { billedSeconds, readTranscript } from './read-transcript.ts'

const API = "Deepgram's speech to text"

/** A media type that is valid in a header. */
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+(;[\x20-\x7e]*)?$/

/** Transcription: the recording is the body, everything else is in the address. The vendor's own options (`smart_format`,
 *  `diarize`, `keyterm` …) are forwarded. */
export const deepgramTranscription: Adapter<TranscriptionRequest> = {
  request(call, connection) {
    const { body, form } = call
    const { file } = body
    const path = pathOf(call, connection)
    // Fields after the file arrive when the address has been sent already.
    const checkLateFields = async () => {
      const whole = await form?.whole()
      if (whole && pathOf({ ...call, body: whole }, connection) !== path) throw lateField()
      return piecesOf(new Uint8Array())
    }
    return {
      method: 'POST',
      origin: connection.origin,
      path,
      headers: {
        ...connection.headers,
        'content-type': MEDIA_TYPE.test(file.contentType) ? file.contentType : 'application/octet-stream',
      },
      upload: form?.raw.closing === undefined ? joinPieces([file.open(), checkLateFields]) : file.open(),
    }
  },

  reply(bytes, _headers, { body: request }) {
    const answer = parseRecord(bytes)
    if (answer?.err_code || answer?.err_msg) throw deepgramEmbeddedFailure(answer)
    const transcript = answer && readTranscript(answer)
    if (!transcript) throw new GatewayError('upstream_malformed', "The provider's answer is not a transcription.")
    return transcriptReply(transcript, request, heard(billedSeconds(answer)))
  },

  failure: deepgramFailure,
}

/** Models that have another name for keywords. */
const NEWER = /^(nova-[3-9]|flux)/

function pathOf(call: Outgoing<TranscriptionRequest>, connection: Connection): string {
  const { body } = call
  const kept = NEWER.test(connection.model) ? [] : ['keywords']
  const native = ownTranscriptionOptions(body, API, { drop: dropper(call), kept })
  const { language, response_format, temperature } = body
  // 0 is the public default.
  if (temperature) throw unsupported('temperature', API)

  const query = new URLSearchParams({ model: connection.model })
  // The vendor's defaults are no punctuation, and English.
  if (native.smart_format === undefined && native.punctuate === undefined) query.set('smart_format', 'true')
  if (language) query.set('language', language)
  else if (native.detect_language === undefined) query.set('detect_language', 'true')
  if (response_format === 'diarized_json' && native.diarize === undefined) query.set('diarize', 'true')
  for (const [name, value] of queryOptions(native, API)) query.append(name, value)
  return `${connection.basePath}/v1/listen?${query}`
}
