interface Held {
  readonly text: string
  readonly expiresAt: number
}

/** Texts that expire and together have at most `mostCharacters`: beyond that, those that were not read for the longest
 *  time are dropped. Nothing else bounds what calls leave in memory. */
export interface BoundedTexts {
  get(key: string): string | undefined
  set(key: string, text: string, expiresAt: number): void
  delete(key: string): void
  /** The characters of all texts. */
  readonly characters: number
}

export function boundedTexts(now: () => number, mostCharacters: number): BoundedTexts {
  // In the order of their last use.
  const texts = new Map<string, Held>()
  let characters = 0

  function drop(key: string): Held | undefined {
    const held = texts.get(key)
    if (!held) return undefined
    texts.delete(key)
    characters -= held.text.length
    return held
  }

  return {
    get(key) {
      const held = drop(key)
      if (!held || held.expiresAt <= now()) return undefined
      texts.set(key, held)
      characters += held.text.length
      return held.text
    },
    set(key, text, expiresAt) {
      drop(key)
      if (text.length > mostCharacters) return
      texts.set(key, { text, expiresAt })
      characters += text.length
      for (const oldest of texts.keys()) {
        if (characters <= mostCharacters) break
        drop(oldest)
      }
    },
    delete: (key) => void drop(key),
    get characters() {
      return characters
    },
  }
}
