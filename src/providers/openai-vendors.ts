import type { Vendor } from './openai-compatible.ts'

/** The limit of output tokens has one name at most vendors: OpenAI's older one. */
const MAX_TOKENS = { maxTokens: 'max_tokens' } as const

/** Everyone who speaks OpenAI's shape, by kind, with what each serves of it and where it differs. */
export const OPENAI_VENDORS: Readonly<Record<string, Vendor>> = {
  // A server of the operator's own may have any of them.
  'openai-compatible': {
    beside: ['embedding', 'image_generation', 'audio_speech', 'audio_transcription', 'rerank'],
  },
  openai: {
    apiBase: 'https://api.openai.com/v1',
    beside: ['responses', 'embedding', 'image_generation', 'audio_speech', 'audio_transcription'],
    refusesReasoning: true,
  },
  mistral: {
    apiBase: 'https://api.mistral.ai/v1',
    beside: ['embedding', 'audio_transcription'],
    ...MAX_TOKENS,
    // Refused with 422; usage comes with the last chunk in any case.
    streamOptions: false,
    // Any field that it does not know is refused with 422.
    reasoning: 'none',
  },
  groq: {
    apiBase: 'https://api.groq.com/openai/v1',
    beside: ['audio_speech', 'audio_transcription'],
    usageUnder: 'x_groq',
    reasoning: 'reasoning',
  },
  together: {
    apiBase: 'https://api.together.xyz/v1',
    beside: ['embedding', 'image_generation', 'audio_speech', 'audio_transcription', 'rerank'],
    ...MAX_TOKENS,
  },
  fireworks: { apiBase: 'https://api.fireworks.ai/inference/v1', beside: ['responses', 'embedding'] },
  deepinfra: {
    apiBase: 'https://api.deepinfra.com/v1/openai',
    beside: ['embedding', 'image_generation', 'audio_speech', 'audio_transcription'],
    ...MAX_TOKENS,
  },
  deepseek: { apiBase: 'https://api.deepseek.com/v1', beside: [], ...MAX_TOKENS, reasoning: 'reasoning_content' },
  openrouter: { apiBase: 'https://openrouter.ai/api/v1', beside: ['embedding'], cacheMarks: true },
  // Its chat is at /chat/completions, without a version. Usage comes with every chunk.
  perplexity: { apiBase: 'https://api.perplexity.ai', beside: [], models: false, ...MAX_TOKENS, reasoning: 'none' },
  xai: { apiBase: 'https://api.x.ai/v1', beside: ['responses', 'image_generation'] },
  cerebras: {
    apiBase: 'https://api.cerebras.ai/v1',
    beside: [],
    maxTokens: 'max_completion_tokens',
    reasoning: 'reasoning',
  },
  nvidia: { apiBase: 'https://integrate.api.nvidia.com/v1', beside: ['embedding'], ...MAX_TOKENS },
  moonshot: { apiBase: 'https://api.moonshot.ai/v1', beside: [], ...MAX_TOKENS, reasoning: 'reasoning_content' },
  huggingface: { apiBase: 'https://router.huggingface.co/v1', beside: [], ...MAX_TOKENS },
  cloudflare: {
    apiBase: 'https://api.cloudflare.com/client/v4/accounts/{project}/ai/v1',
    beside: ['embedding'],
    models: false,
    ...MAX_TOKENS,
  },
  ollama: { apiBase: 'http://localhost:11434/v1', beside: ['embedding'], ...MAX_TOKENS },
  vllm: { apiBase: 'http://localhost:8000/v1', beside: ['embedding', 'audio_transcription', 'rerank'] },
  lmstudio: { apiBase: 'http://localhost:1234/v1', beside: ['embedding'], ...MAX_TOKENS },
}
