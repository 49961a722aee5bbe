import type { GatewayError } from '../../../lib/errors.ts'
import { asList, asRecord, asText, entryOf, type JsonRecord } from '../../../lib/json/lenient.ts'
import type { AnswerFacts } from '../../../modes/answer-facts.ts'
import type { ChatChunk, UrlCitation, WireUsage } from '../../../modes/chat-completion.ts'
import type { ResponsesRequest } from '../../../modes/responses.ts'
import { openaiMessage } from '../../failures.ts'
import { callAssembly } from '../call-assembly.ts'
import { contentFields } from '../content-fields.ts'
import { type CallItem, callItem } from './call-item.ts'
import { callSequence } from './call-sequence.ts'
import { compactionItem, isCompacting } from './compaction.ts'
import { customCallItem, shellCallItem } from './custom-call-item.ts'
import { type Head, newHead, type Progress, responseDocument } from './document.ts'
import { errorFields } from './error-fields.ts'
import { type OfferedTool, offeredTools } from './functions.ts'
import { itemIds, newResponseId } from './item-ids.ts'
import { type MessageItem, messageItem } from './message-item.ts'
import { type Emit, type OutputItem, outputItem } from './output-item.ts'
import { type ReasoningItem, reasoningItem } from './reasoning-item.ts'

/** Builds a response from chunks and emits an event for each step. A whole answer is built the same way, without
 *  events. */
export function growingAnswer(request: ResponsesRequest, facts: AnswerFacts | undefined, emit: Emit) {
  const items: OutputItem[] = []
  const responseId = facts?.id ?? newResponseId()
  const idOf = itemIds(responseId)
  let head: Head | undefined
  let usage: WireUsage | undefined
  let tier: string | undefined
  let finish: string | undefined
  let message: MessageItem | undefined
  /** The characters of text so far, and before the newest message. */
  let [length, before] = [0, 0]
  let reasoning: ReasoningItem | undefined
  const sealed = request.include?.includes('reasoning.encrypted_content') === true
  let offered: ReadonlyMap<string, OfferedTool> | undefined
  /** Of a conversation that is compacted, all of the answer. */
  let summary = isCompacting(request) ? '' : undefined
  const sequence = callSequence()
  const calls = callAssembly((callId, name, end) => sequence.add(end, () => openCall(callId, name)))

  function added<Item extends OutputItem>(item: Item): Item {
    items.push(item)
    return item
  }
  /** Closes reasoning, message and a complete call before another item begins. */
  function closeOthers(): void {
    sequence.rest()
    for (const item of [reasoning, message]) item?.close('completed')
  }
  function openCall(callId: string, name: string): CallItem {
    closeOthers()
    offered ??= offeredTools(request)
    const tool = offered.get(name)
    if (tool?.kind === 'custom') return added(customCallItem(emit, items.length, { id: idOf('ctc'), callId, tool }))
    if (tool?.kind === 'local_shell') return added(shellCallItem(emit, items.length, { id: idOf('lsh'), callId, tool }))
    return added(callItem(emit, items.length, { id: idOf('fc'), callId, ...(tool ?? { name }) }))
  }
  function openReasoning(): ReasoningItem {
    if (!reasoning || reasoning.closed) {
      closeOthers()
      reasoning = added(reasoningItem(emit, items.length, { id: idOf('rs'), sealed }))
    }
    return reasoning
  }
  function openMessage(): MessageItem {
    if (!message || message.closed) {
      closeOthers()
      message = added(messageItem(emit, items.length, idOf('msg')))
      before = length
    }
    return message
  }
  function begin(created: unknown, model: unknown): Head {
    if (head) return head
    head = newHead(responseId, { created, model, facts }, request)
    const response = responseDocument(head, request, { status: 'in_progress', output: [], tier })
    emit('response.created', { response })
    emit('response.in_progress', { response })
    return head
  }
  const documents = () => items.map((item) => item.document())

  return {
    push({ created, model, choices, usage: reported, service_tier }: ChatChunk): void {
      if (reported) usage = reported
      if (typeof service_tier === 'string') tier = service_tier
      const choice = Array.isArray(choices) ? choices.find((one) => one && (one.index ?? 0) === 0) : undefined
      // A chunk about the prompt alone may come first, without id and model.
      if (!choice) return
      begin(created, model)
      const { content, refusal, reasoning_content, thinking_blocks, annotations, tool_calls } = contentFields(
        choice.delta,
      )
      if (typeof choice.finish_reason === 'string') finish = choice.finish_reason
      if (summary !== undefined) {
        summary += content
        return
      }
      if (reasoning_content !== '') openReasoning().addText(reasoning_content)
      if (thinking_blocks.length > 0) openReasoning().addSigned(thinking_blocks)
      if (content !== '') openMessage().addText(content, logprobsOf(choice.logprobs))
      length += content.length
      // They may come where their message has ended.
      if (annotations.length > 0 && !message?.closed)
        openMessage().addCitations(annotations.map((one) => movedBack(one, before)))
      if (refusal !== '') openMessage().addRefusal(refusal)
      for (const call of tool_calls) calls.push(call)
    },
    /** Ends a complete answer. */
    finish(): object {
      const ended = begin(undefined, undefined)
      calls.finish()
      sequence.finish()
      if (summary !== undefined) {
        const item = compactionItem(idOf('cmp'), summary)
        added(outputItem(emit, items.length, () => item))
      }
      const incomplete = entryOf(INCOMPLETE, finish)
      const last = items.at(-1)
      for (const item of items) item.close(incomplete && item === last ? 'incomplete' : 'completed')
      const progress: Progress = {
        status: incomplete ? 'incomplete' : 'completed',
        output: documents(),
        usage,
        tier,
        ...(incomplete ? { incompleteBecause: incomplete } : {}),
      }
      const response = responseDocument(ended, request, progress)
      emit(`response.${progress.status}`, { response })
      return response
    },
    /** Ends an answer that was cut. Its open items stay open. */
    fail(failure: GatewayError): void {
      const ended = begin(undefined, undefined)
      const error = {
        code: failure.row.type === 'rate_limit_error' ? 'rate_limit_exceeded' : 'server_error',
        message: openaiMessage(failure),
      }
      const response = responseDocument(ended, request, { status: 'failed', output: documents(), usage, tier, error })
      emit('response.failed', { response })
      // The vendor's own client raises only at an event of this type.
      emit('error', errorFields(failure))
    },
  }
}

/** A citation by its place in a text that begins so many characters later. */
function movedBack({ type, url_citation }: UrlCitation, by: number): UrlCitation {
  const { start_index, end_index, title, ...page } = url_citation
  // Some vendors leave out the places or the title, and clients check for them.
  const moved = (index: unknown) => Math.max(0, (Number(index) || 0) - by)
  const cited = { start_index: moved(start_index), end_index: moved(end_index), title: asText(title) }
  return { type, url_citation: { ...cited, ...page } }
}

const INCOMPLETE: Readonly<Record<string, 'max_output_tokens' | 'content_filter'>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
}

/** The lists in them may be null or absent in chat. Here clients check for them. */
function logprobsOf(logprobs: unknown): readonly object[] {
  const withBytes = (token: JsonRecord) => ({ ...token, bytes: asList(token.bytes) })
  return asList(asRecord(logprobs).content)
    .map(asRecord)
    .map(({ top_logprobs, ...token }) => ({
      ...withBytes(token),
      top_logprobs: asList(top_logprobs).map(asRecord).map(withBytes),
    }))
}
