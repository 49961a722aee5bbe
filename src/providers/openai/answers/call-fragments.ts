import { asRecord, asText } from '../../../lib/json/lenient.ts'

/** Tells the tool calls of a streamed choice in fragments as OpenAI does: each call has an index of its own, and its id and
 *  name once. Some vendors leave the index out, or count every call as the first; some repeat the id and the name or write
 *  empty ones, which clients append to what they have, or take in its place. Returns the same list where nothing changes. */
export function callFragments(): (fragments: readonly unknown[]) => readonly unknown[] {
  const calls: { id: string; name: string }[] = []
  /** The newest call of each index that the vendor gives. */
  const newest = new Map<unknown, number>()
  return (fragments) => {
    let changed = false
    const list = fragments.map((value) => {
      const fragment = asRecord(value)
      const called = asRecord(fragment.function)
      const id = asText(fragment.id)
      const name = asText(called.name)
      const known = newest.get(fragment.index)
      // Some vendors make another id for every fragment, but name a call only once.
      const begins = known === undefined || (id !== '' && id !== calls[known]?.id && name !== '')
      const index = begins ? calls.push({ id, name }) - 1 : known
      newest.set(fragment.index, index)
      const call = calls[index]
      const hasId = !begins && typeof fragment.id === 'string' && call?.id !== ''
      const hasName = !begins && typeof called.name === 'string' && call?.name !== '' && (!name || name === call?.name)
      if (call && !begins) {
        call.id ||= id
        call.name ||= name
      }
      if (index === fragment.index && !hasId && !hasName) return value
      changed = true
      return {
        ...fragment,
        ...(hasId ? { id: undefined } : {}),
        ...(hasName ? { function: { ...called, name: undefined } } : {}),
        index,
      }
    })
    return changed ? list : fragments
  }
}
