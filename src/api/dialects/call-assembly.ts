import { newId } from '../../lib/ids.ts'
import { asRecord, asText, isRecord } from '../../lib/json/lenient.ts'
import { type JsonEnd, jsonEnd } from './json-end.ts'

/** What an assembled call is told to. */
export interface CallWriter {
  add(fragment: string): void
}

interface Assembled {
  readonly givenId: string
  /** Until the name is known, there is nobody to tell. */
  writer: CallWriter | undefined
  name: string
  waiting: string
  readonly end: JsonEnd
}

/** Puts the fragments of parallel tool calls together. Vendors differ: some leave out the index or the id, some give
 *  every call index 0, some send the name late or the arguments as an object. */
export function callAssembly(open: (callId: string, name: string) => CallWriter) {
  const all: Assembled[] = []
  const byIndex = new Map<number, Assembled>()
  const callIds = new Set<string>()
  let last: Assembled | undefined

  const begin = (givenId: string): Assembled => {
    const call: Assembled = { givenId, writer: undefined, name: '', waiting: '', end: jsonEnd() }
    all.push(call)
    return call
  }
  const name = (call: Assembled, text: string) => {
    const callId = call.givenId !== '' && !callIds.has(call.givenId) ? call.givenId : newId('call')
    callIds.add(callId)
    call.name = text
    call.writer = open(callId, text)
    if (call.waiting !== '') call.writer.add(call.waiting)
  }
  /** Whether what is said under a name is of another call than the one that was known in its place. */
  const isAnother = (known: Assembled, id: string, given: string, fragment: string): boolean => {
    if (given === '' || !known.writer) return false
    if (id !== '') return known.givenId !== id
    // Some repeat the name with every fragment: what is closed takes none.
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
    take(delta: unknown): void {
      const { index, id, function: called } = asRecord(delta)
      const { name: given, arguments: told } = asRecord(called)
      const fragment = isRecord(told) ? JSON.stringify(told) : asText(told)
      const call = callOf(index, asText(id), asText(given), fragment)
      if (!call.writer && asText(given) !== '') name(call, asText(given))
      if (fragment === '') return
      call.end.push(fragment)
      if (call.writer) call.writer.add(fragment)
      else call.waiting += fragment
    },
    /** A call without a name is told at last, so that nothing that the model said is lost. */
    finish(): void {
      for (const call of all) if (!call.writer && call.waiting !== '') name(call, '')
    },
  }
}
