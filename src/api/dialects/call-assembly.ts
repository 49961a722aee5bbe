import { newId } from '../../lib/ids.ts'
import { asRecord, asText, isRecord } from '../../lib/json/lenient.ts'
import { type JsonEnd, jsonEnd } from './json-end.ts'

/** Writes the arguments of one tool call. */
export interface CallWriter {
  add(fragment: string): void
}

interface Assembled {
  readonly givenId: string
  /** undefined until the name is known. */
  writer: CallWriter | undefined
  name: string
  /** Arguments that arrived before the name. */
  pending: string
  readonly end: JsonEnd
}

/** Assembles parallel tool calls from their fragments. Vendors differ: some leave out the index or the id, some give
 *  every call the index 0, some send the name late or the arguments as an object. `end` tells when the arguments of a call
 *  are complete. */
export function callAssembly(open: (callId: string, name: string, end: JsonEnd) => CallWriter) {
  const all: Assembled[] = []
  const byIndex = new Map<number, Assembled>()
  const callIds = new Set<string>()
  let last: Assembled | undefined

  const begin = (givenId: string): Assembled => {
    const call: Assembled = { givenId, writer: undefined, name: '', pending: '', end: jsonEnd() }
    all.push(call)
    return call
  }
  const name = (call: Assembled, text: string) => {
    const callId = call.givenId !== '' && !callIds.has(call.givenId) ? call.givenId : newId('call')
    callIds.add(callId)
    call.name = text
    call.writer = open(callId, text, call.end)
    if (call.pending !== '') call.writer.add(call.pending)
  }
  /** Whether a fragment with this name starts another call than the known one of its index. */
  const isAnother = (known: Assembled, id: string, given: string, fragment: string): boolean => {
    if (given === '' || !known.writer) return false
    if (id !== '') return known.givenId !== id
    // Some vendors repeat the name with every fragment; a closed call accepts none.
    return known.name !== given || (known.end.closed && fragment.trim() !== '')
  }
  const callOf = (index: unknown, id: string, given: string, fragment: string): Assembled => {
    const known = typeof index === 'number' ? byIndex.get(index) : last
    const call = known && !isAnother(known, id, given, fragment) ? known : begin(id)
    if (typeof index === 'number') byIndex.set(index, call)
    last = call
    return call
  }

  return {
    push(delta: unknown): void {
      const { index, id, function: called } = asRecord(delta)
      const { name: given, arguments: text } = asRecord(called)
      const fragment = isRecord(text) ? JSON.stringify(text) : asText(text)
      const call = callOf(index, asText(id), asText(given), fragment)
      if (!call.writer && asText(given) !== '') name(call, asText(given))
      if (fragment === '') return
      call.end.push(fragment)
      if (call.writer) call.writer.add(fragment)
      else call.pending += fragment
    },
    /** Emits calls without a name at the end, so that no generated content is lost. */
    finish(): void {
      for (const call of all) if (!call.writer && call.pending !== '') name(call, '')
    },
  }
}
