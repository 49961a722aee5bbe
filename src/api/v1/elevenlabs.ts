import * as z from 'zod'
import type { GatewayError } from '../../lib/errors.ts'
import { speechToText as hearing } from '../../modes/elevenlabs/speech-to-text.ts'
import { textToSpeech as speaking } from '../../modes/elevenlabs/text-to-speech.ts'
import { asMode } from '../../modes/mode.ts'
import { defineRoute } from '../route.ts'
import { audioSpeech } from './audio-speech.ts'
import { audioTranscriptions } from './audio-transcriptions.ts'
import { modelRoute, runModelCall } from './model-route.ts'

/** An error in the shape that the vendor's clients expect. */
const errorBody = (error: GatewayError) => ({
  detail: {
    type: error.row.type,
    code: error.code,
    status: error.code,
    message: error.message,
    param: error.details.param,
  },
})
const credentialHeader = 'xi-api-key'

/** The model of requests that name none. */
const USUAL_MODEL = 'eleven_multilingual_v2'

const { endpoint } = audioSpeech
const speech = { ...endpoint, mode: asMode(speaking) }

const speechAt = (address: string, summary: string) =>
  defineRoute(
    {
      method: 'post',
      path: address,
      summary,
      tag: 'Models',
      auth: 'caller',
      modelCall: true,
      params: () => z.object({ voice: z.string() }),
      query: () =>
        z.object({
          output_format: z.string().optional().describe('mp3_44100_128, pcm_24000, opus_48000_64 …'),
          enable_logging: z.enum(['true', 'false']).optional(),
          optimize_streaming_latency: z.string().optional(),
        }),
      body: { schema: speaking.schema, contentType: 'application/json' },
      responses: { 200: { description: 'The sound, as raw bytes.', contentType: 'audio/*' } },
      errorBody,
      credentialHeader,
    },
    (scope) => {
      const { params, query } = scope.input
      return runModelCall(scope, speech, scope.caller(), {
        edit: ({ model_id, model }) => ({
          ...query,
          voice: params.voice,
          model: model_id ?? model ?? USUAL_MODEL,
          model_id: undefined,
        }),
      })
    },
  )

export const textToSpeech = speechAt(
  '/v1/text-to-speech/{voice}',
  "Turn text into speech, in the shape of ElevenLabs' API; counted as `/v1/audio/speech`.",
)
export const textToSpeechStream = speechAt(
  '/v1/text-to-speech/{voice}/stream',
  "Turn text into speech, in the shape of ElevenLabs' API for streams; counted as `/v1/audio/speech`.",
)

const speechToTextRoute = modelRoute(
  { ...audioTranscriptions.endpoint, mode: asMode(hearing) },
  {
    summary: "Turn a recording into text, in the shape of ElevenLabs' API; counted as `/v1/audio/transcriptions`.",
    responses: { 200: { description: 'The text and its words.', contentType: 'application/json' } },
    errorBody,
    credentialHeader,
  },
)
export const speechToText = {
  ...speechToTextRoute,
  contract: { ...speechToTextRoute.contract, path: '/v1/speech-to-text' },
}
