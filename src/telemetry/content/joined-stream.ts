/** Joins the events of a stream to the whole answer, as far as readers need it: texts, tool calls and why it ended.
 *  undefined for a stream of an unknown form. */
export function joinedStream(events: readonly Fields[]): unknown {
  if (events.some(({ candidates }) => Array.isArray(candidates))) return joinedCandidates(events)
  const first = events.find((event) => typeof event.object === 'string' || typeof event.type === 'string')
  if (!first) return undefined
  if (typeof first.object === 'string' && Array.isArray(first.choices)) return joinedChunks(events)
  const type = String(first.type)
  if (type.startsWith('response.')) return joinedResponse(events)
  if (type === 'message-start') return joinedCohere(events)
  return type === 'message_start' || type.startsWith('content_block') ? joinedMessage(events) : undefined
}

export type Fields = Readonly<Record<string, unknown>>
type Draft = Record<string, unknown>

/** Chat and text completions. */
function joinedChunks(events: readonly Fields[]): unknown {
  const choices = new Map<number, Draft>()
  const whole: Draft = {}
  for (const { choices: some, object: _object, ...head } of events) {
    for (const [name, value] of Object.entries(head)) if (value !== null) whole[name] = value
    for (const one of listOf(some)) {
      const index = typeof one.index === 'number' ? one.index : 0
      const choice = choices.get(index) ?? { index }
      choices.set(index, choice)
      if (typeof one.text === 'string') choice.text = `${choice.text ?? ''}${one.text}`
      if (isFields(one.delta)) choice.message = joinedDelta((choice.message as Draft | undefined) ?? {}, one.delta)
      if (typeof one.finish_reason === 'string') choice.finish_reason = one.finish_reason
    }
  }
  return { ...whole, choices: [...choices.values()] }
}

/** Merges two deltas: joins texts, merges lists by the index of their parts, and else takes the later value. */
function joinedDelta(into: Draft, delta: Fields): Draft {
  for (const [name, value] of Object.entries(delta)) {
    const before = into[name]
    if (typeof value === 'string' && typeof before === 'string' && !SAID_ONCE.has(name)) into[name] = before + value
    else if (Array.isArray(value)) into[name] = joinedParts(Array.isArray(before) ? before : [], value)
    else if (isFields(value)) into[name] = joinedDelta(isFields(before) ? { ...before } : {}, value)
    else if (value !== null && value !== undefined) into[name] = value
  }
  return into
}

/** Members whose texts are repeated by every delta, not continued. */
const SAID_ONCE: ReadonlySet<string> = new Set(['role', 'id', 'type', 'format'])

function joinedParts(before: readonly unknown[], parts: readonly unknown[]): unknown[] {
  const joined = [...before]
  for (const part of parts) {
    if (!isFields(part) || typeof part.index !== 'number') {
      joined.push(part)
      continue
    }
    const at = joined.findIndex((one) => isFields(one) && one.index === part.index)
    if (at === -1) joined.push(joinedDelta({}, part))
    else joined[at] = joinedDelta({ ...(joined[at] as Fields) }, part)
  }
  return joined
}

/** The last event holds the whole; one that broke off has the items that were completed, and the text so far. */
function joinedResponse(events: readonly Fields[]): unknown {
  const last = events.findLast(
    ({ type }) => typeof type === 'string' && /^response\.(completed|incomplete|failed)$/.test(type),
  )
  if (last) return last.response
  const output = events.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item] : []))
  const text = events.map(({ type, delta }) => (type === 'response.output_text.delta' ? String(delta) : '')).join('')
  return { object: 'response', output, output_text: text }
}

/** Messages of Anthropic's API. */
function joinedMessage(events: readonly Fields[]): unknown {
  let message: Draft = {}
  const blocks = new Map<number, Draft>()
  for (const { type, message: begun, index = 0, content_block: block, delta, usage } of events) {
    if (type === 'message_start' && isFields(begun)) message = { ...begun }
    if (type === 'content_block_start' && isFields(block)) blocks.set(index as number, { ...block })
    if (type === 'content_block_delta' && isFields(delta)) {
      const into = blocks.get(index as number) ?? {}
      blocks.set(index as number, into)
      for (const name of ['text', 'thinking', 'partial_json']) {
        if (typeof delta[name] === 'string') into[name] = `${into[name] ?? ''}${delta[name]}`
      }
    }
    if (type === 'message_delta') Object.assign(message, isFields(delta) ? delta : {}, isFields(usage) ? { usage } : {})
  }
  return { ...message, content: [...blocks.values()] }
}

/** Candidates of Gemini's API: each event has further parts. */
function joinedCandidates(events: readonly Fields[]): unknown {
  const joined = new Map<unknown, Draft & { readonly parts: Draft[] }>()
  const whole: Draft = {}
  for (const { candidates, ...head } of events) {
    Object.assign(whole, head)
    for (const { index = 0, content, finishReason } of listOf(candidates)) {
      const candidate = joined.get(index) ?? { index, parts: [] }
      joined.set(index, candidate)
      if (finishReason !== undefined) candidate.finishReason = finishReason
      for (const part of listOf(isFields(content) ? content.parts : undefined)) {
        const last = candidate.parts.at(-1)
        if (typeof part.text === 'string' && typeof last?.text === 'string' && last.thought === part.thought) {
          last.text += part.text
        } else candidate.parts.push({ ...part })
      }
    }
  }
  const candidates = [...joined.values()].map(({ parts, ...rest }) => ({ content: { role: 'model', parts }, ...rest }))
  return { ...whole, candidates }
}

/** Cohere's chat: parts of the text and calls are numbered apart. */
function joinedCohere(events: readonly Fields[]): unknown {
  let message: Draft = {}
  let ended: Fields = {}
  const parts = new Map<unknown, Draft>()
  for (const { type, index, delta } of events) {
    if (!isFields(delta)) continue
    if (type === 'message-end') ended = delta
    const said = isFields(delta.message) ? delta.message : {}
    const part = isFields(said.content) ? said.content : isFields(said.tool_calls) ? said.tool_calls : undefined
    if (part) {
      const key = part === said.content ? index : `call ${index}`
      parts.set(key, joinedDelta(parts.get(key) ?? {}, part))
    } else message = joinedDelta(message, said)
  }
  const all = [...parts.entries()]
  const content = all.flatMap(([key, part]) => (typeof key === 'string' ? [] : [part]))
  const tool_calls = all.flatMap(([key, part]) => (typeof key === 'string' ? [part] : []))
  return { ...ended, message: { ...message, content, tool_calls } }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : []
}
