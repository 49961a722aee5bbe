import type { Mode } from '../../modes/mode.ts'
import type { Deployment } from '../../routing/deployment.ts'
import { asChunks, asCompletion } from './chat-bytes.ts'
import { COMMON, fitted } from './fitting-calls.ts'
import type { Translator } from './translator.ts'
import { chunksOf, unstreamed, wholeStream } from './whole-as-stream.ts'

/** Chat whose stream yields chunks for another writer; undefined if the adapter does not stream. */
export function inChunks(deployment: Deployment, mode: Mode): Translator | undefined {
  const chat = deployment.adapter('chat', mode.name)
  const adapter = chat && fitted(chat, COMMON)
  if (!adapter?.stream) return undefined
  const { stream } = adapter
  return {
    ...adapter,
    reply(bytes, headers, call) {
      adapter.reply(bytes, headers, call)
      throw unstreamed()
    },
    wholeAsStream(bytes, headers, call) {
      const reply = asCompletion(adapter.reply(bytes, headers, call))
      const chunks = reply.completion ? chunksOf(reply.completion) : []
      return [...chunks.map((chunk) => ({ chunk })), wholeStream(new Uint8Array(), reply)]
    },
    stream: (call, headers) => {
      const inner = stream(call, headers)
      return { push: (piece) => inner.push(piece).flatMap(asChunks), closing: () => new Uint8Array() }
    },
  }
}
