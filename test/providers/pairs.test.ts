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
  'image_edit',
  'image_variation',
  'audio_translation',
  'moderation',
  'text_to_speech',
  'speech_to_text',
  'cohere_embed',
  'cohere_chat',
  'generate_content',
  'gemini_count_tokens',
] as const

/** What each vendor really serves, as its own reference says, and the dialects of chat that it speaks itself. A change
 *  here is a claim about the vendor. */
const SERVES: Readonly<Record<string, string>> = {
  echo: 'chat',
  anthropic: 'chat messages count_tokens',
  azure: 'chat responses embedding image_generation audio_speech audio_transcription image_edit audio_translation',
  elevenlabs: 'audio_speech audio_transcription text_to_speech speech_to_text',
  deepgram: 'audio_speech audio_transcription',
  'openai-compatible':
    'chat embedding image_generation audio_speech audio_transcription rerank image_edit image_variation audio_translation moderation',
  openai:
    'chat responses embedding image_generation audio_speech audio_transcription image_edit image_variation audio_translation moderation',
  mistral: 'chat embedding audio_speech audio_transcription moderation',
  groq: 'chat audio_speech audio_transcription audio_translation',
  together: 'chat embedding image_generation audio_speech audio_transcription rerank audio_translation',
  fireworks: 'chat responses embedding',
  deepinfra: 'chat embedding image_generation audio_speech audio_transcription',
  deepseek: 'chat',
  openrouter: 'chat embedding image_generation audio_speech audio_transcription rerank',
  perplexity: 'chat responses',
  xai: 'chat responses image_generation',
  cerebras: 'chat',
  nvidia: 'chat embedding',
  moonshot: 'chat',
  huggingface: 'chat',
  cloudflare: 'chat embedding',
  ollama: 'chat embedding',
  vllm: 'chat embedding audio_transcription rerank audio_translation',
  lmstudio: 'chat embedding',
  bedrock: 'chat embedding rerank',
  cohere: 'chat embedding rerank cohere_embed cohere_chat',
  voyage: 'embedding rerank',
  jina: 'embedding rerank',
  gemini: 'chat embedding image_generation audio_speech image_edit generate_content gemini_count_tokens',
  vertex: 'chat embedding image_generation audio_speech image_edit generate_content gemini_count_tokens',
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
