import { joinBytes } from '../../lib/bytes/bytes.ts'
import type { ChatChunk, WireUsage } from '../../modes/chat-completion.ts'
import type { Usage } from '../../modes/usage.ts'
import type { StreamStep } from '../../providers/provider.ts'
import type { AnswerSoFar } from '../attempt/answer-so-far.ts'
import type { Call } from '../call.ts'
import type { WrittenReader } from '../translate/written-reply.ts'
import { splice } from './splice.ts'

/** Adapts another model's stream to continue the answer: no second start, no repeated text, the same id and model. */
export function continuedStream(
  inner: WrittenReader,
  { call, writer, answerSoFar }: { call: Call; writer: WrittenReader; answerSoFar: AnswerSoFar },
): WrittenReader & { along(steps: readonly StreamStep[]): StreamStep[] } {
  const joint = splice(answerSoFar.text())
  const spent = call.attempts.flatMap(({ usage, lostHedge }) => (usage && !lostHedge ? usage : []))
  let finished = false

  const rest = (chunk: ChatChunk): ChatChunk | undefined => {
    const usage = chunk.usage ? added(chunk.usage, spent) : (chunk.usage ?? null)
    const [choice] = Array.isArray(chunk.choices) ? chunk.choices : []
    const common = { ...chunk, ...answerSoFar.head, usage }
    if (!choice) return usage ? { ...common, choices: [] } : undefined
    const { role: _, content, ...delta } = withoutThoughts(choice.delta)
    let fresh = typeof content === 'string' ? joint.take(content) : ''
    if (choice.finish_reason || delta.tool_calls) fresh += joint.end()
    const silent = fresh === '' && Object.values(delta).every((value) => value === null || value === '')
    if (silent && !choice.finish_reason && !usage) return undefined
    const written = { ...delta, ...(fresh === '' ? {} : { content: fresh }) }
    return { ...common, choices: [{ ...choice, delta: written }] }
  }
  const along = (steps: readonly StreamStep[]): StreamStep[] =>
    steps.map(({ chunk, out: _, ...step }) => {
      finished ||= step.finished === true
      const next = chunk && rest(chunk)
      if (next) answerSoFar.add(next)
      const out = [
        ...(next && writer.write ? [writer.write(next)] : []),
        ...(step.done && finished ? [writer.closing()] : []),
      ]
      return out.length === 0 ? step : { ...step, out: joinBytes(out) }
    })
  return { ...writer, along, push: (piece) => along(inner.push(piece)) }
}

/** Drops reasoning: the client already received the reasoning of the first model. */
function withoutThoughts(delta: ChatChunk['choices'][number]['delta'] | undefined) {
  const {
    reasoning_content: _text,
    reasoning: _other,
    reasoning_details: _details,
    thinking_blocks: _blocks,
    ...rest
  } = (delta ?? {}) as ChatChunk['choices'][number]['delta'] & Record<string, unknown>
  return rest
}

function added(usage: WireUsage, spent: readonly Usage[]): WireUsage {
  const input = spent.reduce((sum, { inputTokens }) => sum + inputTokens, usage.prompt_tokens ?? 0)
  const output = spent.reduce((sum, { outputTokens }) => sum + outputTokens, usage.completion_tokens ?? 0)
  return { ...usage, prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}
