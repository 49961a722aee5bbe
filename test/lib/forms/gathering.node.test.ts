import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { gathering } from '../../../src/lib/forms/gathering.node.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const PIECE_BYTES = 65_536
const PIECES = 512

it('holds a body of unknown length once when it is whole, however long whoever gathered it lives', async () => {
  const gathered = gathering(Number.NaN)
  const pieces: WeakRef<Uint8Array>[] = []
  for (let at = 0; at < PIECES; at++) {
    const piece = new Uint8Array(PIECE_BYTES).fill(at)
    pieces.push(new WeakRef(piece))
    gathered.push(piece)
  }
  const body = gathered.bytes()
  // What was just made is not collected in its turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
  collect()
  // The last one may still stand in a register.
  expect(pieces.filter((piece) => piece.deref() !== undefined).length).toBeLessThan(2)
  expect([body.byteLength, body.at(-1), typeof gathered.push]).toEqual([PIECES * PIECE_BYTES, 255, 'function'])
})
