import { audioSpeech as mode } from '../../modes/audio-speech.ts'
import { asMode } from '../../modes/mode.ts'
import { idPlaces } from '../../pipeline/ids/named-ids.ts'
import { chatErrorEvent } from '../failures.ts'
import { modelRoute } from './model-route.ts'

/** Places of ids: of neighbouring requests, and of the account's pronunciation dictionaries. */
const ids = idPlaces([
  { path: 'previous_request_ids[]', kind: 'request' },
  { path: 'next_request_ids[]', kind: 'request' },
  { path: 'pronunciation_dictionary_locators[].pronunciation_dictionary_id', kind: 'pronunciation_dictionary' },
])

export const audioSpeech = modelRoute(
  { path: '/v1/audio/speech', mode: asMode(mode), errorEvent: chatErrorEvent, ids },
  {
    summary: 'Turn text into speech.',
    responses: { 200: { description: 'The sound, as raw bytes.', contentType: 'audio/*' } },
  },
)
