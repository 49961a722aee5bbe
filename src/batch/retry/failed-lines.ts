import type { Line } from '../lines.ts'

const ANSWERED_AT_ONCE = 10_000

/** The lines of a batch's input whose requests were not answered well: they failed, or never ran. */
export async function* failedLines(
  lines: AsyncIterable<Line>,
  answered: (after: number, limit: number) => Promise<readonly number[]>,
): AsyncGenerator<Uint8Array> {
  let page: readonly number[] = await answered(-1, ANSWERED_AT_ONCE)
  let at = 0
  let item = -1
  for await (const { bytes } of lines) {
    item += 1
    if (page[at] !== item) {
      if (bytes) yield bytes
      continue
    }
    at += 1
    if (at === page.length) {
      page = await answered(item, ANSWERED_AT_ONCE)
      at = 0
    }
  }
}
