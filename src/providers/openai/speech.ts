import { GatewayError } from '../../lib/errors.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import type { SpeechRequest } from '../../modes/audio-speech.ts'
import type { Adapter } from '../provider.ts'
import { eventRelay } from './event-relay.ts'
import { openaiFailure } from './failure.ts'

/** Speech: the model is renamed, and the audio is relayed unparsed; as events, if the client asks for those. */
export const openaiSpeech: Adapter<SpeechRequest> = {
  unparsed: true,
  request({ body, bytes }, connection) {
    const changes: Record<string, unknown> = {}
    if (body.model !== connection.model) changes.model = connection.model
    if (body.metadata !== undefined) changes.metadata = undefined
    if (!body.voice && typeof connection.defaults.voice_id === 'string') changes.voice = connection.defaults.voice_id
    return {
      method: 'POST',
      origin: connection.origin,
      path: `${connection.basePath}/audio/speech`,
      headers: { ...connection.headers, accept: '*/*' },
      body: editJson(bytes, body, changes),
    }
  },
  reply: () => {
    throw new GatewayError('upstream_malformed', "The provider's answer is not a sound.")
  },
  stream: () => eventRelay(/\.done$/),
  failure: openaiFailure,
}
