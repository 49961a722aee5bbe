import { useState } from 'preact/hooks'
import {
  codingToolsOf,
  environmentOf,
  SAMPLE_LANGUAGES,
  type SampleCall,
  type SampleLanguage,
  sampleOf,
} from '../../data/call-samples.ts'
import { Code } from '../code.tsx'
import { Segmented } from '../tabs.tsx'

/** How each kind of model is called. */
const WAYS: Readonly<Record<string, Pick<SampleCall, 'endpoint' | 'body' | 'file'>>> = {
  chat: { endpoint: 'chat/completions', body: { messages: [{ role: 'user', content: 'Say hello.' }] } },
  completion: { endpoint: 'completions', body: { prompt: 'Once upon a time' } },
  embedding: { endpoint: 'embeddings', body: { input: 'Some text' } },
  image_generation: { endpoint: 'images/generations', body: { prompt: 'A lighthouse' } },
  audio_speech: { endpoint: 'audio/speech', body: { input: 'Hello.', voice: 'alloy' } },
  audio_transcription: { endpoint: 'audio/transcriptions', body: {}, file: 'speech.mp3' },
  rerank: { endpoint: 'rerank', body: { query: 'sea', documents: ['a harbour', 'a mountain'] } },
  moderation: { endpoint: 'moderations', body: { input: 'Some text' } },
}

/** An example call of a model. */
export function exampleCall(model: string, mode: string, key?: string): SampleCall {
  const { body, ...way } = WAYS[mode] ?? (WAYS.chat as (typeof WAYS)[string])
  return { ...way, origin: location.origin, key, body: { model, ...body } }
}

const SETTINGS = [
  { id: 'env', label: '.env' },
  { id: 'tools', label: 'Coding tools' },
] as const

/** Code that makes a first call, in several languages. */
export function CallCode({
  model,
  mode = 'chat',
  apiKey,
}: {
  readonly model: string
  readonly mode?: string | undefined
  readonly apiKey?: string | undefined
}) {
  const call = exampleCall(model, mode, apiKey)
  // Coding tools need a chat model.
  const offered = SETTINGS.filter(({ id }) => id !== 'tools' || mode === 'chat')
  return (
    <Samples
      call={call}
      label={`How to call ${model}`}
      more={offered.map((one) => ({
        ...one,
        text: one.id === 'env' ? environmentOf(location.origin, apiKey) : codingToolsOf(location.origin, model, apiKey),
      }))}
    />
  )
}

/** A call in every language, one at a time. */
export function Samples({
  call,
  label,
  more = [],
}: {
  readonly call: SampleCall
  readonly label: string
  /** What is no program. */
  readonly more?: ReadonlyArray<{ readonly id: string; readonly label: string; readonly text: string }>
}) {
  const [language, setLanguage] = useState('curl')
  const other = more.find(({ id }) => id === language)
  const known = other ?? SAMPLE_LANGUAGES.find(({ id }) => id === language) ?? SAMPLE_LANGUAGES[0]
  return (
    <div class="stack">
      <div>
        <Segmented
          label="Language"
          options={[...SAMPLE_LANGUAGES, ...more]}
          current={known.id}
          onChange={setLanguage}
        />
      </div>
      <Code label={label} text={other ? other.text : sampleOf(known.id as SampleLanguage, call)} />
      {call.key === undefined && !other && (
        <p class="quiet small">GATEWAY_KEY is a key. It was shown once, when it was made, and cannot be read again.</p>
      )}
    </div>
  )
}
