import { anthropic } from './anthropic.ts'
import { deepgram } from './deepgram.ts'
import { echo } from './echo.ts'
import { elevenlabs } from './elevenlabs.ts'
import { gemini } from './gemini.ts'
import { openaiCompatible } from './openai-compatible.ts'
import type { Provider } from './provider.ts'

const list: readonly Provider[] = [
  echo,
  anthropic,
  elevenlabs,
  deepgram,
  gemini,
  openaiCompatible('openai-compatible', {}),
  openaiCompatible('openai', { apiBase: 'https://api.openai.com/v1' }),
  openaiCompatible('mistral', { apiBase: 'https://api.mistral.ai/v1' }),
  openaiCompatible('groq', { apiBase: 'https://api.groq.com/openai/v1' }),
  openaiCompatible('together', { apiBase: 'https://api.together.xyz/v1' }),
  openaiCompatible('fireworks', { apiBase: 'https://api.fireworks.ai/inference/v1' }),
  openaiCompatible('deepinfra', { apiBase: 'https://api.deepinfra.com/v1/openai' }),
  openaiCompatible('deepseek', { apiBase: 'https://api.deepseek.com/v1' }),
  openaiCompatible('openrouter', { apiBase: 'https://openrouter.ai/api/v1' }),
  openaiCompatible('perplexity', { apiBase: 'https://api.perplexity.ai' }),
  openaiCompatible('xai', { apiBase: 'https://api.x.ai/v1' }),
  openaiCompatible('cerebras', { apiBase: 'https://api.cerebras.ai/v1' }),
  openaiCompatible('nvidia', { apiBase: 'https://integrate.api.nvidia.com/v1' }),
  openaiCompatible('moonshot', { apiBase: 'https://api.moonshot.ai/v1' }),
  openaiCompatible('huggingface', { apiBase: 'https://router.huggingface.co/v1' }),
  openaiCompatible('ollama', { apiBase: 'http://localhost:11434/v1' }),
  openaiCompatible('vllm', { apiBase: 'http://localhost:8000/v1' }),
  openaiCompatible('lmstudio', { apiBase: 'http://localhost:1234/v1' }),
]

/** Every provider kind that this build can speak to. */
export const providers: ReadonlyMap<string, Provider> = new Map(list.map((provider) => [provider.kind, provider]))
