import type { Readable } from 'node:stream'
import type { LineEnd } from './line-writer.node.ts'

const NEWLINE = 0x0a

/** Passes on the lines that another process writes, whole: where several processes write to one output themselves, and it
 *  has no room for all of a write, the lines of one stand within those of another. Resolves when there are no more; a line
 *  without an end, of a process that was killed, is left out. */
export async function passLines(from: Readable, to: LineEnd): Promise<void> {
  let begun: Buffer[] = []
  for await (const bytes of from as AsyncIterable<Buffer>) {
    const end = bytes.lastIndexOf(NEWLINE) + 1
    if (end > 0) {
      const lines = Buffer.concat([...begun, bytes.subarray(0, end)])
      begun = []
      await new Promise<void>((resolve) => to.write(lines, () => resolve()))
    }
    if (end < bytes.length) begun.push(bytes.subarray(end))
  }
}
