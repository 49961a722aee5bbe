import type { Secret } from '../lib/secret.ts'
import { reveal, secret } from '../lib/secret.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiEmbeddings, openaiImages, openaiRerank } from './openai-modes.ts'
import { openaiSpeech } from './openai-speech.ts'
import { openaiTranscription } from './openai-transcription.ts'
import { type Adapters, adapterFor, type Provider } from './provider.ts'

/** What tells one OpenAI-shaped vendor from another. */
export interface Vendor {
  /** With its path, e.g. `https://api.groq.com/openai/v1`; absent where only the operator can know it. */
  readonly apiBase?: string
}

const adapters: Adapters = {
  chat: adapterFor(openaiChat),
  embedding: adapterFor(openaiEmbeddings),
  image_generation: adapterFor(openaiImages),
  audio_speech: adapterFor(openaiSpeech),
  audio_transcription: adapterFor(openaiTranscription),
  rerank: adapterFor(openaiRerank),
}

/** A vendor that speaks the OpenAI shape: a data row, not a file. */
export function openaiCompatible(kind: string, vendor: Vendor): Provider {
  return {
    kind,
    connect(parameters, defaults) {
      const base = parameters.api_base ?? vendor.apiBase
      if (base === undefined) throw new TypeError(`provider '${kind}' needs gateway_params.api_base`)
      const url = new URL(base)
      const headers: Record<string, string | Secret> = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        // Bodies are relayed as they come: nothing here decodes them.
        'accept-encoding': 'identity',
        'user-agent': 'model-gateway',
      }
      if (parameters.organization !== undefined) headers['openai-organization'] = parameters.organization
      if (parameters.project !== undefined) headers['openai-project'] = parameters.project
      if (parameters.api_key) headers.authorization = secret(`Bearer ${reveal(parameters.api_key)}`)
      for (const [name, value] of Object.entries(parameters.headers ?? {})) headers[name.toLowerCase()] = value
      return {
        model: parameters.upstream_model,
        origin: url.origin,
        basePath: url.pathname.replace(/\/+$/, ''),
        headers,
        parameters,
        defaults,
      }
    },
    adapters,
  }
}
