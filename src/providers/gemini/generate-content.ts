import type { ChatRequest } from '../../modes/chat.ts'
import type { Adapter, Connection } from '../provider.ts'
import { refuseCloudObjects } from '../wire/cloud-objects.ts'
import { refuseUnspoken } from '../wire/unspoken-fields.ts'
import { GEMINI } from './api-name.ts'
import { conversationOf } from './contents.ts'
import { generateReply } from './generate-reply.ts'
import { generateStream } from './generate-stream.ts'
import { generationConfigOf } from './generation-config.ts'
import { googleFailure } from './google-failure.ts'
import { toolsOf } from './tools.ts'

const SPOKEN: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'n',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'response_format',
  'modalities',
  'tools',
  'tool_choice',
  'reasoning_effort',
  'thinking',
  'logprobs',
  'top_logprobs',
  'safety_settings',
  'cached_content',
])

/** Of Cloud Storage, and files of the account by the address of the API. */
const OBJECTS = /^(gs:|https?:\/\/([^/?#]*@)?generativelanguage\.)/i

/** Chat with a Gemini model, wherever it is served: generateContent, streamed or not. */
export const generateContent: Adapter<ChatRequest> = {
  request({ body, streamed }, connection) {
    refuseUnspoken(body, SPOKEN, GEMINI)
    refuseCloudObjects(body.messages, connection, OBJECTS)
    const { contents, systemInstruction } = conversationOf(body.messages, connection.model)
    const generationConfig = generationConfigOf(body, connection.model)
    const { safety_settings: safetySettings, cached_content: cachedContent } = body
    return {
      method: 'POST',
      origin: connection.origin,
      path: methodPath(connection, streamed ? 'streamGenerateContent?alt=sse' : 'generateContent'),
      headers: connection.headers,
      body: JSON.stringify({
        contents,
        ...(systemInstruction ? { systemInstruction } : {}),
        ...toolsOf(body),
        ...(generationConfig ? { generationConfig } : {}),
        ...(safetySettings ? { safetySettings } : {}),
        ...(cachedContent ? { cachedContent } : {}),
      }),
    }
  },
  reply: generateReply,
  stream: generateStream,
  failure: googleFailure,
}

/** A method of a model: a bare name is one of Google's own, one with a slash names its collection too. */
export function methodPath({ basePath, model }: Connection, method: string): string {
  return `${basePath}/${model.includes('/') ? model : `models/${model}`}:${method}`
}
