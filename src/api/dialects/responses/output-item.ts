/** Tells one event of a stream; a whole answer tells nobody. */
export type Emit = (type: string, fields: object) => void

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** One item of a response's output while it grows. */
export interface OutputItem {
  readonly closed: boolean
  /** Says what is complete now, innermost first. Closing twice says nothing more. */
  close(status: ItemStatus): void
  /** The item as far as it has come. */
  document(): object
}

/** Announces an item, and remembers how it ended. */
export function announced(emit: Emit, output_index: number, write: (status: ItemStatus) => object) {
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
