import { joinBytes } from '../../lib/bytes/bytes.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatChunk, ChatCompletion } from '../../modes/chat-completion.ts'
import { joinDetail } from '../../providers/openai/answers/reasoning-details.ts'
import type { Adapter, Outgoing } from '../../providers/provider.ts'
import { reworded } from './reworded.ts'

/** An adapter of chat whose answers tell their reasoning also as `reasoning` and `reasoning_details`, for clients that ask
 *  for it in words of OpenRouter's. They send the details back, signatures among them. */
export function withOpenrouterReasoning(adapter: Adapter): Adapter {
  const readsDetails = (call: Outgoing) => call.readsDetails === true
  return reworded(adapter, readsDetails, (call) => ({ call: inBlocks(call), answer: detailing() }))
}

/** The call with the signed thoughts of earlier answers where vendors look for them. */
function inBlocks(call: Outgoing): Outgoing {
  const { body, bytes } = call
  const given = asList(body.messages)
  const messages = given.map((value) => {
    const message = asRecord(value)
    const blocks = message.thinking_blocks ? [] : blocksOf(asList(message.reasoning_details).filter(isRecord))
    return blocks.length === 0 ? value : { ...message, thinking_blocks: blocks }
  })
  if (messages.every((message, index) => message === given[index])) return call
  return { ...call, body: { ...body, messages }, bytes: joinBytes(editJson(bytes, body, { messages })) }
}

function blocksOf(pieces: readonly JsonRecord[]): object[] {
  const details: JsonRecord[] = []
  // Some clients send the pieces of a stream back as they came.
  for (const piece of pieces) joinDetail(details, piece)
  return details
    .filter(({ type, signature }) => type === 'reasoning.text' && asText(signature) !== '')
    .map(({ text, signature }) => ({ type: 'thinking', thinking: asText(text), signature }))
}

/** Adds the details to an answer, or to the chunks of one in their order. */
function detailing() {
  /** The thought's number among those of the answer. A signature ends it. */
  let index = 0
  // OpenRouter's client leaves out unsigned details of a vendor's format.
  const detailOf = (text: string): JsonRecord => ({ type: 'reasoning.text', text, format: 'unknown', index })
  const signedDetail = (text: string, signature: unknown): JsonRecord => {
    const detail = { ...detailOf(text), signature }
    index++
    return detail
  }
  const detailed = (said: JsonRecord, isWhole: boolean): JsonRecord => {
    const text = asText(said.reasoning_content ?? said.reasoning)
    const signed = asList(said.thinking_blocks)
      .map(asRecord)
      .filter(({ signature }) => asText(signature) !== '')
      // The text of a block has been streamed before it.
      .map(({ thinking, signature }) => ({ text: isWhole ? asText(thinking) : '', signature }))
    const unsigned = text === '' || (isWhole && signed.length > 0) ? [] : [detailOf(text)]
    const details = [...unsigned, ...signed.map((block) => signedDetail(block.text, block.signature))]
    if (details.length === 0) return said
    return {
      ...said,
      ...(text === '' ? {} : { reasoning: text }),
      reasoning_details: said.reasoning_details ?? details,
    }
  }
  return <Answer extends ChatCompletion | ChatChunk>(answer: Answer): Answer => {
    const choices = answer.choices.map((choice: JsonRecord) => {
      const { message, delta } = choice
      return {
        ...choice,
        ...(message ? { message: detailed(asRecord(message), true) } : { delta: detailed(asRecord(delta), false) }),
      }
    })
    return { ...answer, choices } as Answer
  }
}
