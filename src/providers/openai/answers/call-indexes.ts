import { asRecord, asText } from '../../../lib/json/lenient.ts'

/** Gives each tool call of a streamed choice an index of its own: some vendors leave it out, or count every call as the
 *  first. Returns the same list where nothing changes. */
export function callIndexes(): (calls: readonly unknown[]) => readonly unknown[] {
  const ids: string[] = []
  /** The newest call of each index that the vendor gives. */
  const newest = new Map<unknown, number>()
  return (calls) => {
    let changed = false
    const list = calls.map((value) => {
      const call = asRecord(value)
      const id = asText(call.id)
      const known = newest.get(call.index)
      // Some vendors make another id for every fragment, but name a call only once.
      const begins =
        known === undefined || (id !== '' && id !== ids[known] && asText(asRecord(call.function).name) !== '')
      const index = begins ? ids.push(id) - 1 : known
      newest.set(call.index, index)
      if (index === call.index) return value
      changed = true
      return { ...call, index }
    })
    return changed ? list : calls
  }
}
