import type { CallWriter } from '../call-assembly.ts'
import type { JsonEnd } from '../json-end.ts'
import type { CallItem } from './call-item.ts'

interface Call {
  readonly open: () => CallItem
  readonly end: JsonEnd
  /** Arguments that are held back until the item is open. */
  pending: string
  item: CallItem | undefined
}

/** Opens the items of parallel calls one after the other, as the vendor does: many clients give what is told to the item
 *  that was added last. A later call is held back until the arguments of the open one are complete. */
export function callSequence() {
  const queue: Call[] = []
  let opened: Call | undefined

  function advance(): void {
    while (queue[0] && (!opened || opened.end.closed)) next()
  }
  function next(): void {
    opened?.item?.close('completed')
    const call = queue.shift()
    if (!call) return
    opened = call
    call.item = call.open()
    if (call.pending !== '') call.item.add(call.pending)
  }

  return {
    add(end: JsonEnd, open: () => CallItem): CallWriter {
      const call: Call = { open, end, pending: '', item: undefined }
      queue.push(call)
      advance()
      return {
        add(fragment) {
          if (!call.item) call.pending += fragment
          else if (!call.item.closed) call.item.add(fragment)
          advance()
        },
      }
    },
    /** Closes the open call if it is complete, before an item of another kind begins. */
    rest(): void {
      if (opened?.end.closed) opened.item?.close('completed')
    },
    /** Opens all calls; the last one stays open. */
    finish(): void {
      while (queue.length > 0) next()
    },
  }
}
