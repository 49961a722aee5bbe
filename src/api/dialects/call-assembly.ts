import { newId } from '../../lib/ids.ts'
import { asRecord, asText, isRecord } from '../../lib/lenient.ts'

/** What an assembled call is told to. */
export interface CallWriter {
  add(fragment: string): void
}

interface Assembled {
  readonly givenId: string
  /** Until the name is known, there is nobody to tell. */
  writer: CallWriter | undefined
  waiting: string
}

/** Puts the fragments of parallel tool calls together. Vendors differ: some leave out the index or the id, some give
 *  every call index 0, some send the name late or the arguments as an object. */
export function callAssembly(open: (callId: string, name: string) => CallWriter) {
  const all: Assembled[] = []
  const byIndex = new Map<number, Assembled>()
  const callIds = new Set<string>()
  let last: Assembled | undefined

  const begin = (givenId: string): Assembled => {
    const call: Assembled = { givenId, writer: undefined, waiting: '' }
    all.push(call)
    return call
  }
  const name = (call: Assembled, text: string) => {
    const callId = call.givenId !== '' && !callIds.has(call.givenId) ? call.givenId : newId('call')
    callIds.add(callId)
    call.writer = open(callId, text)
    if (call.waiting !== '') call.writer.add(call.waiting)
  }
  const callOf = (index: unknown, id: string, named: boolean): Assembled => {
    const known = typeof index === 'number' ? byIndex.get(index) : last
    const another = named && id !== '' && known?.writer !== undefined && known.givenId !== id
    const call = known && !another ? known : begin(id)
    if (typeof index === 'number') byIndex.set(index, call)
    last = call
    return call
  }

  return {
    take(delta: unknown): void {
      const { index, id, function: called } = asRecord(delta)
      const { name: given, arguments: told } = asRecord(called)
      const call = callOf(index, asText(id), asText(given) !== '')
      if (!call.writer && asText(given) !== '') name(call, asText(given))
      const fragment = isRecord(told) ? JSON.stringify(told) : asText(told)
      if (fragment === '') return
      if (call.writer) call.writer.add(fragment)
      else call.waiting += fragment
    },
    /** A call without a name is told at last, so that nothing that the model said is lost. */
    finish(): void {
      for (const call of all) if (!call.writer && call.waiting !== '') name(call, '')
    },
  }
}
