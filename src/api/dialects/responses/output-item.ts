/** Writes one event of a stream. Does nothing for a whole answer. */
export type Emit = (type: string, fields: object) => void

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** One item of a response's output while it grows. */
export interface OutputItem {
  readonly closed: boolean
  /** Emits the events of completion, innermost first. Closing again emits nothing. */
  close(status: ItemStatus): void
  /** The item in its present state. */
  document(): object
}

/** Emits the start and the end of an item, and holds its status. */
export function outputItem(emit: Emit, output_index: number, write: (status: ItemStatus) => object) {
  let status: ItemStatus = 'in_progress'
  emit('response.output_item.added', { output_index, item: write(status) })
  return {
    get closed() {
      return status !== 'in_progress'
    },
    close(ending: ItemStatus) {
      status = ending
      emit('response.output_item.done', { output_index, item: write(status) })
    },
    document: () => write(status),
  }
}
