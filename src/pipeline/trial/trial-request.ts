import type { Footprint } from '../../lib/footprints.ts'
import type { Mode, ModelRequest } from '../../modes/mode.ts'
import type { Outgoing } from '../../providers/provider.ts'
import type { Deployment } from '../../routing/deployment.ts'
import { type IncomingForm, incomingForm } from '../request/incoming-form.ts'

const encoder = new TextEncoder()

/** The smallest requests of modes that health checks do not ask: these cost noticeably. */
const SMALLEST: Readonly<Partial<Record<Mode['name'], Readonly<Record<string, unknown>>>>> = {
  completion: { prompt: 'Hi', max_tokens: 16 },
  image_generation: { prompt: 'A grey square' },
  audio_speech: { input: 'Hi', voice: 'alloy' },
  audio_transcription: {},
}

/** The request that tries a deployment: the smallest of its kind, with the deployment's defaults and with `fields`, which
 *  win. */
export function trialRequest(
  { modelName, connection: { defaults } }: Deployment,
  mode: Mode,
  fields: Readonly<Record<string, unknown>>,
): ModelRequest {
  // The smallest request has a limit of its own, and some vendors refuse two.
  const { voice_id: voice, max_tokens: _limit, ...others } = defaults
  const smallest = mode.smallest ?? SMALLEST[mode.name] ?? {}
  return { ...others, ...smallest, ...(voice && smallest.voice ? { voice } : {}), ...fields, model: modelName }
}

export function asOutgoing(body: ModelRequest, streamed: boolean): Outgoing {
  const asked = streamed ? { ...body, stream: true } : body
  return { body: asked, bytes: encoder.encode(JSON.stringify(asked)), streamed }
}

const BOUNDARY = 'trial-of-a-deployment'

/** The request as a form, with a short recording of silence as its file. */
export async function asForm(
  body: ModelRequest,
  mode: Mode,
  footprint: Footprint,
): Promise<{ readonly outgoing: Outgoing; readonly form: IncomingForm }> {
  const contentType = `multipart/form-data; boundary=${BOUNDARY}`
  const fields = Object.entries(body).map(([name, value]) => [name, String(value)])
  const form = new Response(new Blob([...fields.map(fieldPart), FILE_HEAD, silence(), `\r\n--${BOUNDARY}--\r\n`]))
  const bytes = new Uint8Array(await form.arrayBuffer())
  const pieces = [bytes]
  const upload = () => ({ length: bytes.byteLength, read: async () => pieces.shift(), close() {} })
  const incoming = incomingForm({ upload }, mode, contentType, { limitBytes: bytes.byteLength, footprint })
  const request = await incoming.whole()
  const outgoing = { body: request, bytes: new Uint8Array(), form: incoming, streamed: false }
  return { outgoing, form: incoming }
}

const fieldPart = ([name, value]: readonly (string | undefined)[]) =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

const FILE_HEAD = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="silence.wav"\r\ncontent-type: audio/wav\r\n\r\n`

const SAMPLES_A_SECOND = 16_000
const SAMPLES = SAMPLES_A_SECOND / 2

/** Half a second of silence as WAV: 16 bits, one channel. */
function silence(): Uint8Array<ArrayBuffer> {
  const wav = new DataView(new ArrayBuffer(44 + 2 * SAMPLES))
  const name = (at: number, text: string) => {
    for (let index = 0; index < text.length; index++) wav.setUint8(at + index, text.charCodeAt(index))
  }
  name(0, 'RIFF')
  wav.setUint32(4, 36 + 2 * SAMPLES, true)
  name(8, 'WAVEfmt ')
  wav.setUint32(16, 16, true)
  wav.setUint16(20, 1, true)
  wav.setUint16(22, 1, true)
  wav.setUint32(24, SAMPLES_A_SECOND, true)
  wav.setUint32(28, 2 * SAMPLES_A_SECOND, true)
  wav.setUint16(32, 2, true)
  wav.setUint16(34, 16, true)
  name(36, 'data')
  wav.setUint32(40, 2 * SAMPLES, true)
  return new Uint8Array(wav.buffer)
}
