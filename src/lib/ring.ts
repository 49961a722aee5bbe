/** An item of a ring, which belongs to one ring at a time. */
export interface Link {
  before: Link | undefined
  after: Link | undefined
}

/** Items that come and go, in the order in which they came. The list runs through the items themselves: a Map or Set that
 *  every call enters and leaves is rebuilt again and again, and the tables that it has left keep the calls that stood in
 *  them alive until the whole heap is collected. */
export interface Ring<Item extends Link> {
  add(item: Item): void
  /** False if the item was not in it. */
  remove(item: Item): boolean
  first(): Item | undefined
  /** The items of this moment; they may be removed meanwhile. */
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
