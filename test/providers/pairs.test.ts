import { describe, expect, it } from 'vitest'
import { PROVIDER_KINDS } from '../../src/config/provider-kinds.ts'
import { providers } from '../../src/providers/index.ts'

/** What each vendor really serves, as its own reference says. A change here is a claim about the vendor. */
const SERVES: Readonly<Record<string, string>> = {
  echo: 'chat',
  'openai-compatible': 'chat embedding image_generation audio_speech audio_transcription rerank',
  mistral: 'chat embedding audio_transcription',
  groq: 'chat audio_speech audio_transcription',
  together: 'chat embedding image_generation audio_speech audio_transcription rerank',
  fireworks: 'chat embedding',
  deepinfra: 'chat embedding image_generation audio_speech audio_transcription',
  deepseek: 'chat',
  openrouter: 'chat embedding',
  perplexity: 'chat',
  xai: 'chat image_generation',
  cerebras: 'chat',
  nvidia: 'chat embedding',
  moonshot: 'chat',
  huggingface: 'chat',
  cloudflare: 'chat embedding',
  ollama: 'chat embedding',
  vllm: 'chat embedding audio_transcription rerank',
  lmstudio: 'chat embedding',
  bedrock: 'chat embedding',
  cohere: 'chat embedding rerank',
  voyage: 'embedding rerank',
  jina: 'embedding rerank',
}

/** Dialects of chat are another table's. */
const modesOf = (kind: string) =>
  Object.keys(providers.get(kind)?.adapters ?? {}).filter((name) => name !== 'messages' && name !== 'responses')

describe('the providers', () => {
  it.each(Object.entries(SERVES))('%s serves %s', (kind, modes) => {
    expect(modesOf(kind).join(' ')).toBe(modes)
  })

  it('are those that a configuration may name', () => {
    expect([...providers.keys()].filter((kind) => !(PROVIDER_KINDS as readonly string[]).includes(kind))).toEqual([])
  })
})
