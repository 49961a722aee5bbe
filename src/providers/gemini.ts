import type { Secret } from '../lib/secret.ts'
import { batchEmbed } from './gemini/batch-embed.ts'
import { generateContent } from './gemini/generate-content.ts'
import { type Adapters, adapterFor, type Provider } from './provider.ts'

const API_BASE = 'https://generativelanguage.googleapis.com'
const API_VERSION = 'v1beta'

export const geminiAdapters: Adapters = {
  chat: adapterFor(generateContent),
  embedding: adapterFor(batchEmbed),
}

/** Google's Gemini API, by its key. */
export const gemini: Provider = {
  kind: 'gemini',
  connect(parameters, defaults) {
    const url = new URL(parameters.api_base ?? API_BASE)
    const path = url.pathname.replace(/\/+$/, '')
    const headers: Record<string, string | Secret> = jsonHeaders()
    if (parameters.api_key) headers['x-goog-api-key'] = parameters.api_key
    for (const [name, value] of Object.entries(parameters.headers ?? {})) headers[name.toLowerCase()] = value
    return {
      model: parameters.upstream_model,
      origin: url.origin,
      // An address that ends in a version is whole.
      basePath: /\/v\d\w*$/.test(path) ? path : `${path}/${parameters.api_version ?? API_VERSION}`,
      headers,
      parameters,
      defaults,
    }
  },
  adapters: geminiAdapters,
}

export function jsonHeaders(): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'accept-encoding': 'identity',
    'user-agent': 'model-gateway',
  }
}
