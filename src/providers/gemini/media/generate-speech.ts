import { base64Bytes } from '../../../lib/bytes/base64.ts'
import { joinBytes } from '../../../lib/bytes/bytes.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { asList, asRecord, asText, type JsonRecord, parseRecord } from '../../../lib/json/lenient.ts'
import type { SpeechRequest } from '../../../modes/audio-speech.ts'
import type { Adapter, Reply } from '../../provider.ts'
import { ownSpeechOptions, voiceOf } from '../../wire/speech-options.ts'
import { unsupported } from '../../wire/unsupported-fields.ts'
import { asWav, samplesIn } from '../../wire/wav.ts'
import { GEMINI } from '../api-name.ts'
import { candidateReader } from '../candidate.ts'
import { geminiUsage } from '../gemini-usage.ts'
import { methodPath } from '../generate-content.ts'
import { failureIn } from '../generate-reply.ts'
import { googleFailure } from '../google-failure.ts'

/** A voice that was made for the account, in place of one of the vendor's. */
const OWN_VOICE = /^voice(key)?_/
const USUAL_RATE = 24_000

/** Speech with a model that answers in sound: samples without a header, or a WAV file, of which the client gets the one
 *  that it asked for. */
export const generateSpeech: Adapter<SpeechRequest> = {
  request({ body }, connection) {
    const { speed, ...own } = ownSpeechOptions(body, GEMINI)
    const [unknown] = Object.keys(own)
    if (unknown !== undefined) throw unsupported(unknown, GEMINI)
    if (speed != null && speed !== 1) throw unsupported('speed', GEMINI, 'Say in the text how fast it is to be said.')
    const { response_format: format } = body
    if (format && format !== 'wav' && format !== 'pcm')
      throw unsupported('response_format', GEMINI, 'Ask for wav or pcm.')
    const voice = voiceOf(body, connection.defaults)
    const speechConfig = {
      ...(voice === undefined ? {} : { voiceConfig: configOf(voice) }),
      ...(typeof body.language === 'string' ? { languageCode: body.language } : {}),
    }
    return {
      method: 'POST',
      origin: connection.origin,
      path: methodPath(connection, 'generateContent'),
      headers: connection.headers,
      body: JSON.stringify({
        contents: [{ role: 'user', parts: [{ text: body.input }] }],
        generationConfig: { responseModalities: ['AUDIO'], speechConfig },
      }),
    }
  },
  reply(bytes, headers, { body }): Reply {
    const answer = parseRecord(bytes)
    if (!answer) throw new GatewayError('upstream_malformed', "The provider's answer is not JSON.")
    const failure = failureIn(answer)
    if (failure) throw failure
    const { samples, rate } = soundOf(asRecord(asList(answer.candidates)[0]))
    const isBare = body.response_format === 'pcm'
    return {
      bytes: isBare ? samples : asWav(samples, rate),
      contentType: isBare ? `audio/pcm;rate=${rate}` : 'audio/wav',
      usage: geminiUsage(answer.usageMetadata, headers),
      outputCharacters: 0,
    }
  },
  failure: googleFailure,
}

function configOf(voice: string): JsonRecord {
  return OWN_VOICE.test(voice) ? { voice } : { prebuiltVoiceConfig: { voiceName: voice } }
}

interface Sound {
  /** Of 16 bits, little-endian, in one channel. */
  readonly samples: Uint8Array
  /** Samples a second. */
  readonly rate: number
}

function soundOf(candidate: JsonRecord): Sound {
  const pieces = asList(asRecord(candidate.content).parts).flatMap((part): Sound[] => {
    const { mimeType, data } = asRecord(asRecord(part).inlineData)
    return asText(data) === '' ? [] : [samplesOf(asText(mimeType), base64Bytes(asText(data)))]
  })
  const [first] = pieces
  if (first) return { samples: joinBytes(pieces.map(({ samples }) => samples)), rate: first.rate }
  // Without sound, the end says whether it was filtered or not completed.
  candidateReader('').finish(candidate)
  throw new GatewayError('unusable_answer', "The provider's answer holds no sound.")
}

function samplesOf(mimeType: string, bytes: Uint8Array): Sound {
  if (/^audio\/l16\b/i.test(mimeType)) {
    return { samples: bytes, rate: Number(/rate=(\d+)/i.exec(mimeType)?.[1] ?? USUAL_RATE) }
  }
  const sound = samplesIn(bytes)
  if (sound) return sound
  throw new GatewayError('upstream_malformed', "The provider's answer holds a sound of another format.")
}
