import { describe, expect, it } from 'vitest'
import { providers } from '../../src/providers/index.ts'

const CAPABILITIES = [
  'chat',
  'messages',
  'responses',
  'count_tokens',
  'embedding',
  'image_generation',
  'audio_speech',
  'audio_transcription',
  'rerank',
] as const

/** What each vendor really serves, as its own reference says, and the dialects of chat that it speaks itself. A change
 *  here is a claim about the vendor. */
const SERVES: Readonly<Record<string, string>> = {
  echo: 'chat',
  anthropic: 'chat messages count_tokens',
  azure: 'chat responses embedding image_generation audio_speech audio_transcription',
  elevenlabs: 'audio_speech audio_transcription',
  deepgram: 'audio_speech audio_transcription',
  'openai-compatible': 'chat embedding image_generation audio_speech audio_transcription rerank',
  openai: 'chat responses embedding image_generation audio_speech audio_transcription',
  mistral: 'chat embedding audio_transcription',
  groq: 'chat audio_speech audio_transcription',
  together: 'chat embedding image_generation audio_speech audio_transcription rerank',
  fireworks: 'chat responses embedding',
  deepinfra: 'chat embedding image_generation audio_speech audio_transcription',
  deepseek: 'chat',
  openrouter: 'chat embedding',
  perplexity: 'chat',
  xai: 'chat responses image_generation',
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
  gemini: 'chat embedding',
  vertex: 'chat embedding',
}

describe('the providers', () => {
  it.each(Object.entries(SERVES))('%s serves %s', (kind, served) => {
    const adapters = providers.get(kind)?.adapters ?? {}
    expect(CAPABILITIES.filter((capability) => adapters[capability]).join(' ')).toBe(served)
    expect(Object.keys(adapters)).toHaveLength(served.split(' ').length)
  })

  it('are all in this list', () => {
    expect([...providers.keys()].sort()).toEqual(Object.keys(SERVES).sort())
  })
})
