/** An item of a ring, which belongs to one ring at a time. */
export interface Link {
  before: Link | undefined
  after: Link | undefined
}

/** A doubly linked list in order of insertion, with the links in the items. A Map or Set that every call enters and leaves
 *  is rebuilt again and again, and its former tables keep finished calls alive until the next full garbage collection. */
export interface Ring<Item extends Link> {
  add(item: Item): void
  /** False if the item was not in it. */
  remove(item: Item): boolean
  first(): Item | undefined
  /** A snapshot, so that items may be removed while it is read. */
  all(): Item[]
}

export function ring<Item extends Link>(): Ring<Item> {
  const end: Link = { before: undefined, after: undefined }
  end.before = end
  end.after = end
  return {
    add(item) {
      const last = end.before as Link
      item.before = last
      item.after = end
      last.after = item
      end.before = item
    },
    remove(item) {
      const { before, after } = item
      if (!before || !after) return false
      before.after = after
      after.before = before
      item.before = undefined
      item.after = undefined
      return true
    },
    first: () => (end.after === end ? undefined : (end.after as Item)),
    all() {
      const items: Item[] = []
      for (let item = end.after as Link; item !== end; item = item.after as Link) items.push(item as Item)
      return items
    },
  }
}
