import type { Vendor } from '../openai-compatible/index.ts'
import { VENDOR_WORDS } from '../wire/fitting/vendor-words.ts'
import { MAX_TOKENS } from './fitting/limit.ts'

/** They take a schema in OpenAI's form alone. */
const WORDS = new Set([...VENDOR_WORDS].filter((word) => word !== 'response_format'))

/** Servers of open models that operators run themselves. */
export const OWN_SERVERS: Readonly<Record<string, Vendor>> = {
  ollama: {
    label: 'Ollama',
    keyless: true,
    words: WORDS,
    apiBase: 'http://localhost:11434/v1',
    modes: ['embedding'],
    chat: {
      conversation: {
        reasoning: 'reasoning',
        // It reads every part as a message of its own.
        stringContents: true,
      },
      limit: MAX_TOKENS,
      efforts: { taken: [[/^/, ['none', 'low', 'medium', 'high', 'max']]] },
    },
  },
  vllm: {
    label: 'vLLM',
    keyless: true,
    words: WORDS,
    apiBase: 'http://localhost:8000/v1',
    modes: ['embedding', 'audio_transcription', 'audio_translation', 'rerank'],
    chat: { fields: { refusedBySome: ['tools'] } },
  },
  lmstudio: {
    label: 'LM Studio',
    keyless: true,
    words: WORDS,
    apiBase: 'http://localhost:1234/v1',
    modes: ['embedding'],
    chat: {
      limit: MAX_TOKENS,
      functions: { needParameters: true, needProperties: true },
      toolChoice: { callsAny: /^/ },
      formats: { schemasAlone: true },
    },
  },
}
