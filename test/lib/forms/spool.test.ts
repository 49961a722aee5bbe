import { describe, expect, it } from 'vitest'
import { type Scratch, type Source, spool } from '../../../src/lib/forms/spool.ts'

const MIB = 1024 * 1024

/** A sender that sends what it is told, and then says nothing until it is closed. */
function sender(pieces: readonly Uint8Array[], atClose: 'rejects' | 'ends'): Source {
  const left = [...pieces]
  let over: (() => void) | undefined
  return {
    read: async () =>
      left.shift() ??
      new Promise((resolve, reject) => {
        over = () => (atClose === 'ends' ? resolve(undefined) : reject(new Error('closed')))
      }),
    close: () => over?.(),
  }
}

function room() {
  const kept = { bytes: 0, closed: 0 }
  const scratch: Scratch = {
    append: async (bytes) => {
      kept.bytes += bytes.byteLength
    },
    read: async () => new Uint8Array(1),
    close: () => {
      kept.closed += 1
    },
  }
  return { kept, open: async () => scratch }
}

describe('a spool', () => {
  it.each(['rejects', 'ends'] as const)(
    'gives its room back when it is closed while more is awaited, which %s',
    async (how) => {
      const { kept, open } = room()
      const pieces = Array.from({ length: 6 }, () => new Uint8Array(MIB))
      const bytes = spool(sender(pieces, how), open)
      for (const _ of pieces) await bytes.pull()
      expect(kept.bytes).toBe(2 * MIB)
      const pending = bytes.pull().catch(() => undefined)
      bytes.close()
      await pending
      expect(kept.closed).toBe(1)
    },
  )

  it('gives its room back once when it is closed in between, or twice', async () => {
    const { kept, open } = room()
    const bytes = spool(
      sender(
        Array.from({ length: 6 }, () => new Uint8Array(MIB)),
        'ends',
      ),
      open,
    )
    for (let piece = 0; piece < 6; piece++) await bytes.pull()
    bytes.close()
    bytes.close()
    expect(kept.closed).toBe(1)
  })
})
