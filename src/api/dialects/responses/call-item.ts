import { type Emit, type OutputItem, outputItem } from './output-item.ts'

export interface CallItem extends OutputItem {
  add(fragment: string): void
}

/** A function call of the model. */
export function callItem(
  emit: Emit,
  output_index: number,
  {
    id,
    callId,
    name,
    namespace,
  }: { readonly id: string; readonly callId: string; readonly name: string; readonly namespace?: string },
): CallItem {
  let text = ''
  const item = outputItem(emit, output_index, (status) => ({
    id,
    type: 'function_call',
    status,
    call_id: callId,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    arguments: text,
  }))
  const where = { item_id: id, output_index }
  const add = (fragment: string) => {
    text += fragment
    emit('response.function_call_arguments.delta', { ...where, delta: fragment })
  }
  return {
    get closed() {
      return item.closed
    },
    add,
    close(status) {
      if (item.closed) return
      // Clients parse the arguments of every call, also where a vendor writes none.
      if (text === '' && status === 'completed') add('{}')
      emit('response.function_call_arguments.done', { ...where, name, arguments: text })
      item.close(status)
    },
    document: item.document,
  }
}
