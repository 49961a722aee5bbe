import { joinBytes } from '../../../lib/bytes/bytes.ts'
import type { JsonRecord } from '../../../lib/json/lenient.ts'
import type { ChatChunk, FinishReason, ThinkingBlock, WireUsage } from '../../../modes/chat-completion.ts'
import type { DialectStream } from '../../../pipeline/translate/dialect.ts'
import { callAssembly } from '../call-assembly.ts'
import { contentFields } from '../content-fields.ts'
import { functionCall, signatureOf, signed } from './from-chat.ts'
import { finishReason, logprobsResult, pictureParts, usageMetadata } from './wire.ts'

const encoder = new TextEncoder()
const NOTHING = new Uint8Array()

/** An event as this dialect writes it: without a name, its lines ended as the vendor ends them. */
export const geminiEvent = (data: object): Uint8Array => encoder.encode(`data: ${JSON.stringify(data)}\r\n\r\n`)

interface AskedCall {
  readonly id: string
  readonly name: string
  text: string
}

/** What has been written of one candidate, and what waits for its end: calls are whole, and the end comes with the usage,
 *  which chat sends last. */
interface Candidate {
  readonly index: number
  readonly calls: AskedCall[]
  readonly assembly: ReturnType<typeof callAssembly>
  readonly blocks: ThinkingBlock[]
  reasoning: string
  refused: boolean
  finish: FinishReason | undefined
}

/** Writes chat chunks as the events of streamGenerateContent. Each tells the usage known so far, as the vendor's do: a
 *  client that requires it, such as BAML's, skips events without it. */
export function geminiEvents(shows: boolean): DialectStream {
  const candidates = new Map<number, Candidate>()
  let head = { modelVersion: '', responseId: '' }
  let usage: WireUsage | undefined

  const event = (told: readonly JsonRecord[]): Uint8Array =>
    geminiEvent({ candidates: told, usageMetadata: usageMetadata(usage), ...head })

  const candidateAt = (index: number): Candidate => {
    let candidate = candidates.get(index)
    if (!candidate) {
      const calls: AskedCall[] = []
      const assembly = callAssembly((id, name) => {
        const call = { id, name, text: '' }
        calls.push(call)
        return {
          add(text) {
            call.text += text
          },
        }
      })
      candidate = { index, calls, assembly, blocks: [], reasoning: '', refused: false, finish: undefined }
      candidates.set(index, candidate)
    }
    return candidate
  }

  function partsOf(delta: unknown, candidate: Candidate): JsonRecord[] {
    const { content, refusal, reasoning_content, thinking_blocks, tool_calls } = contentFields(delta)
    candidate.reasoning += reasoning_content
    candidate.refused ||= refusal !== ''
    candidate.blocks.push(...thinking_blocks)
    for (const call of tool_calls) candidate.assembly.push(call)
    return [
      ...(shows && reasoning_content !== '' ? [{ text: reasoning_content, thought: true }] : []),
      ...(content === '' ? [] : [{ text: content }]),
      ...(refusal === '' ? [] : [{ text: refusal }]),
      ...pictureParts(delta),
    ]
  }

  /** Calls that a client could not run are not shown: the reason says that the answer is incomplete. */
  function ended(candidate: Candidate): JsonRecord {
    const { index, calls, assembly, blocks, reasoning, refused, finish } = candidate
    assembly.finish()
    const read = calls.map(({ id, name, text }) => functionCall({ id, function: { name, arguments: text } }))
    const whole = read.filter((call) => call !== undefined)
    const broken = whole.length < calls.length && finish !== 'length'
    const signature = signatureOf({ thinking_blocks: blocks, reasoning_content: reasoning }, whole.length > 0)
    return {
      content: { parts: signed(whole, signature), role: 'model' },
      finishReason: refused ? 'SAFETY' : broken ? 'MALFORMED_FUNCTION_CALL' : finishReason(finish),
      index,
    }
  }

  return {
    write({ id, model, choices, usage: counted }: ChatChunk) {
      if (counted) usage = counted
      const out: Uint8Array[] = []
      for (const choice of Array.isArray(choices) ? choices : []) {
        head = { modelVersion: model || head.modelVersion, responseId: id || head.responseId }
        const candidate = candidateAt(typeof choice.index === 'number' ? choice.index : 0)
        const parts = partsOf(choice.delta, candidate)
        if (choice.finish_reason) candidate.finish = choice.finish_reason
        const logprobs = logprobsResult(choice.logprobs)
        if (parts.length === 0 && !logprobs.logprobsResult) continue
        const content = { parts: parts.length === 0 ? [{ text: '' }] : parts, role: 'model' }
        out.push(event([{ content, index: candidate.index, ...logprobs }]))
      }
      return out.length === 0 ? NOTHING : joinBytes(out)
    },
    close() {
      if (candidates.size === 0) candidateAt(0)
      return event([...candidates.values()].map(ended))
    },
  }
}
