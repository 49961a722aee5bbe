/** A function, as it was called by those below it in the picture, and the time spent in it and in what it called. */
export interface Frame {
  readonly name: string
  /** A folder, a package, or what Node does for one purpose: frames of one area have one colour. */
  readonly area: string
  time: number
  readonly calls: Map<string, Frame>
}

const WIDTH = 1200
const ROW = 16
const TOP = 34
/** A narrower frame is not drawn. */
const LEAST = 1.5
/** About so wide is a letter. */
const LETTER = 6.1

/** Where time goes, as an SVG image: what a function calls stands on it, as wide as its share. Functions beside one another
 *  are in the order of their shares, not of time. Each names itself and its share when pointed at. */
export function flameGraph(heading: string, root: Frame): string {
  const drawn: string[] = []
  let deepest = 0
  function draw(frame: Frame, left: number, depth: number): void {
    const width = (frame.time / root.time) * WIDTH
    if (width < LEAST) return
    deepest = Math.max(deepest, depth)
    drawn.push(rectangle(frame, { left, width, depth, share: frame.time / root.time }))
    let at = left
    for (const called of [...frame.calls.values()].toSorted((one, other) => other.time - one.time)) {
      draw(called, at, depth + 1)
      at += (called.time / root.time) * WIDTH
    }
  }
  draw(root, 0, 0)
  const height = TOP + (deepest + 1) * ROW
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="10">
<title>${escaped(heading)}</title>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="8" y="22" font-family="sans-serif" font-size="15" font-weight="bold">${escaped(heading)}</text>
<g transform="translate(0 ${height - ROW}) scale(1 -1)">
${drawn.join('\n')}
</g>
</svg>
`
}

interface Place {
  readonly left: number
  readonly width: number
  readonly depth: number
  readonly share: number
}

/** Rows count from below: the letters are turned back. */
function rectangle({ name, area }: Frame, { left, width, depth, share }: Place): string {
  const y = depth * ROW - ROW
  const fits = Math.floor((width - 4) / LETTER)
  const label =
    fits < 3
      ? ''
      : `<text transform="translate(${(left + 2).toFixed(1)} ${y + 4}) scale(1 -1)">${escaped(name.slice(0, fits))}</text>`
  const box = `x="${left.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}" fill="${colourOf(area)}"`
  return `<g><title>${escaped(name)}, ${(100 * share).toFixed(1)} %</title><rect ${box}/>${label}</g>`
}

/** Ours are blue, those of packages green, Node's yellow, and its engine's grey. */
function colourOf(area: string): string {
  if (area.startsWith('src')) return '#9cc4f5'
  if (area.startsWith('node:')) return '#f5df9c'
  return area === '' ? '#dcdfe3' : '#b5e3b0'
}

const escaped = (words: string) => words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
