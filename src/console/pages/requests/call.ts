import type { Answer, Row } from '../../data/client.ts'
import { pathTo } from '../../data/params.ts'
import type { Tone } from '../../design/badge.tsx'

export type Call = Row<'GET /ui/api/logs'>
export type Story = Answer<'GET /ui/api/logs/{call_id}'>
export type Attempt = Story['attempts'][number]

/** How a call ended, in words. Only what is worth a look has a colour. */
export function endingOf({ ending, status, error_type, cache }: Call): { readonly tone: Tone; readonly words: string } {
  const why = [status, error_type?.replace(/(?<=_.*)_error$/, '').replaceAll('_', ' ')].filter(Boolean).join(' ')
  if (ending === 'failed') return { tone: 'bad', words: `Failed ${why}` }
  if (ending === 'truncated') return { tone: 'warn', words: 'Cut short' }
  if (ending === 'client_closed') return { tone: 'quiet', words: 'Client left' }
  return { tone: 'quiet', words: cache === 'hit' ? 'From cache' : 'Answered' }
}

const RESULTS = {
  answered: { tone: 'ok', words: 'answered' },
  failed: { tone: 'bad', words: 'failed' },
  cut: { tone: 'warn', words: 'broke off' },
  lost_hedge: { tone: 'quiet', words: 'outrun' },
  client_closed: { tone: 'quiet', words: 'client left' },
} as const satisfies Record<Attempt['result'], { tone: Tone; words: string }>

export const resultOf = ({ result }: Attempt): { readonly tone: Tone; readonly words: string } => RESULTS[result]

/** The class of an error as it is read: `rate_limit` is "rate limit". */
export const errorWords = (error: string | null): string => (error ?? 'an error').replaceAll('_', ' ')

const LIMITS: Readonly<Record<string, string>> = {
  rpm: 'requests per minute',
  rph: 'requests per hour',
  rpd: 'requests per day',
  tpm: 'tokens per minute',
  tpd: 'tokens per day',
}

/** What has refused a call, as it is read: `key_rpm` is "key requests per minute". */
export const limitWords = (name: string): string =>
  errorWords(name).replace(/\b[rt]p[mhd]\b/, (short) => LIMITS[short] ?? short)

/** The kinds of the playground, by the mode of a call. */
const KINDS: Readonly<Record<string, string>> = {
  chat: '',
  embedding: 'embeddings',
  image_generation: 'image',
  audio_speech: 'speech',
  audio_transcription: 'transcription',
  rerank: 'rerank',
}

/** The playground with what is known of a call: whom it asked, as which key, how. What was asked is not kept. Undefined for
 *  calls that the playground cannot make. */
export function replayOf({ mode, requested_model, key_id, streamed, prompt }: Call): string | undefined {
  const kind = KINDS[mode]
  if (kind === undefined) return undefined
  const isChat = kind === ''
  return pathTo('play', {
    kind,
    model: requested_model,
    key_id: key_id?.startsWith('key') ? key_id : undefined,
    stream: isChat && !streamed ? '0' : undefined,
    prompt: isChat ? prompt : undefined,
  })
}
