/** A line of a comparison: in both texts, in the first one only, or in the second one only. */
export interface DiffLine {
  readonly op: ' ' | '-' | '+'
  readonly text: string
}

/** The largest table of the comparison; longer differences are shown as a whole. */
const MOST_CELLS = 1_000_000

/** The shortest list of removed and added lines that turns the old lines into the new ones. */
export function lineDiff(old: readonly string[], fresh: readonly string[]): DiffLine[] {
  const shorter = Math.min(old.length, fresh.length)
  let head = 0
  while (head < shorter && old[head] === fresh[head]) head += 1
  let tail = 0
  while (tail < shorter - head && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail += 1
  const lines = (op: DiffLine['op'], texts: readonly string[]) => texts.map((text) => ({ op, text }))
  return [
    ...lines(' ', old.slice(0, head)),
    ...between(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail)),
    ...lines(' ', old.slice(old.length - tail)),
  ]
}

/** By the longest common subsequence. */
function between(old: readonly string[], fresh: readonly string[]): DiffLine[] {
  const [rows, columns] = [old.length, fresh.length]
  const width = columns + 1
  const whole = rows * columns > MOST_CELLS
  /** For each pair of positions, the length of the longest common subsequence of what follows. */
  const common = new Uint32Array(whole ? 0 : (rows + 1) * width)
  for (let row = whole ? -1 : rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      const at = row * width + column
      const longest = Math.max(common[at + width] as number, common[at + 1] as number)
      common[at] = old[row] === fresh[column] ? (common[at + width + 1] as number) + 1 : longest
    }
  }
  const lines: DiffLine[] = []
  let [row, column] = [0, 0]
  while (row < rows || column < columns) {
    const [removed, added] = [old[row], fresh[column]]
    const at = row * width + column
    if (row < rows && column < columns && removed === added && !whole) {
      lines.push({ op: ' ', text: removed as string })
      row += 1
      column += 1
    } else if (column >= columns || (row < rows && (whole || isLonger(common[at + width], common[at + 1])))) {
      lines.push({ op: '-', text: removed as string })
      row += 1
    } else {
      lines.push({ op: '+', text: added as string })
      column += 1
    }
  }
  return lines
}

const isLonger = (one: number | undefined, other: number | undefined) => (one ?? 0) >= (other ?? 0)
