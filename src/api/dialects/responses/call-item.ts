import { newId } from '../../../lib/ids.ts'
import { announced, type Emit, type OutputItem } from './output-item.ts'

export interface CallItem extends OutputItem {
  add(fragment: string): void
}

/** A function that the model wants called. */
export function callItem(
  emit: Emit,
  output_index: number,
  { callId, name }: { readonly callId: string; readonly name: string },
): CallItem {
  const id = newId('fc')
  let text = ''
  const item = announced(emit, output_index, (status) => ({
    id,
    type: 'function_call',
    status,
    call_id: callId,
    name,
    arguments: text,
  }))
  const where = { item_id: id, output_index }
  return {
    get closed() {
      return item.closed
    },
    add(fragment) {
      text += fragment
      emit('response.function_call_arguments.delta', { ...where, delta: fragment })
    },
    close(status) {
      if (item.closed) return
      emit('response.function_call_arguments.done', { ...where, name, arguments: text })
      item.close(status)
    },
    document: item.document,
  }
}
