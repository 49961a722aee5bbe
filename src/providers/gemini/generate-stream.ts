import { type Frame, readFrame } from '../../lib/bytes/sse.ts'
import { GatewayError } from '../../lib/errors.ts'
import { exactRecord } from '../../lib/json/exact-json.ts'
import { asList, asRecord, asText, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ChatChunk } from '../../modes/chat-completion.ts'
import type { Outgoing, StreamReader, StreamStep } from '../provider.ts'
import { sseReader } from '../wire/sse-reader.ts'
import { wireUsage } from '../wire/wire-usage.ts'
import { type CandidateReader, candidateReader } from './candidate.ts'
import { geminiUsage } from './gemini-usage.ts'
import { failureIn, identityOf } from './generate-reply.ts'
import { logprobsOf } from './logprobs.ts'

type Choice = ChatChunk['choices'][number]

/** Reads a stream of streamGenerateContent as chat chunks. It has no closing event: the answer ends when every candidate has
 *  its finish reason and the usage was reported. */
export function generateStream({ body }: Outgoing, headers: Readonly<Record<string, string>>): StreamReader {
  const awaited = typeof body.n === 'number' ? body.n : 1
  const readers = new Map<number, CandidateReader>()
  const finished = new Set<number>()
  let responseId = ''
  let model = body.model

  const chunkOf = (choice: Choice): ChatChunk => ({ ...head(), choices: [choice] })
  const head = () => ({ id: identityOf(responseId), object: 'chat.completion.chunk' as const, created: 0, model })

  const candidateSteps = (candidate: JsonRecord, position: number): StreamStep[] => {
    const index = typeof candidate.index === 'number' ? candidate.index : position
    let reader = readers.get(index)
    const role = reader ? {} : { role: 'assistant' as const }
    if (!reader) {
      reader = candidateReader(index === 0 ? responseId : `${responseId}_${index}`)
      readers.set(index, reader)
    }
    const steps: StreamStep[] = []
    const { delta, behind, characters } = reader.read(candidate)
    const logprobs = logprobsOf(candidate)
    if (Object.keys(delta).length > 0 || logprobs || role.role) {
      const choice = { index, delta: { ...role, ...delta }, finish_reason: null, ...(logprobs ? { logprobs } : {}) }
      const commits = delta.tool_calls || delta.images
      steps.push({ chunk: chunkOf(choice), characters, ...(commits ? { commits: true } : {}) })
    }
    if (behind) steps.push({ chunk: chunkOf({ index, delta: behind, finish_reason: null }), commits: true })
    const finish = reader.finish(candidate)
    if (finish && !finished.has(index)) {
      finished.add(index)
      const over = finished.size >= awaited ? { finished: true as const } : {}
      steps.push({ chunk: chunkOf({ index, delta: {}, finish_reason: finish }), commits: true, ...over })
    }
    return steps
  }

  const read = (frame: Frame): StreamStep[] => {
    const { data } = readFrame(frame)
    if (data === undefined) return []
    const event = exactRecord(data)
    if (!event) return [{ malformed: true }]
    responseId ||= asText(event.responseId)
    model = asText(event.modelVersion) || model
    const failure = failureIn(event)
    if (failure) return [{ failure }]

    const steps: StreamStep[] = []
    try {
      for (const [position, candidate] of asList(event.candidates).entries()) {
        steps.push(...candidateSteps(asRecord(candidate), position))
      }
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      return [...steps, { failure: error }]
    }
    const usage = geminiUsage(event.usageMetadata, headers)
    if (!usage) return steps
    if (finished.size < awaited) return [...steps, { usage }]
    return [...steps, { chunk: { ...head(), choices: [], usage: wireUsage(usage) }, usage, done: true }]
  }
  return sseReader(read)
}
