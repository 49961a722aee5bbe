/** One thing over time. */
export interface Panel {
  readonly title: string
  readonly unit: string
  /** Points of (seconds, value), by the name of the line. */
  readonly lines: Readonly<Record<string, readonly (readonly [number, number])[]>>
}

const WIDTH = 960
const HEIGHT = 150
const [LEFT, RIGHT, TOP, BOTTOM] = [70, 130, 28, 26]
const COLOURS = ['#1f6feb', '#d1242f', '#2da44e', '#8250df']

/** Panels one below the other, with one axis of time, as an SVG image. */
export function picture(heading: string, panels: readonly Panel[]): string {
  const seconds = Math.max(
    1,
    ...panels.flatMap(({ lines }) =>
      Object.values(lines)
        .flat()
        .map(([at]) => at),
    ),
  )
  const drawn = panels.map((panel, index) => panelAt(panel, 40 + index * (HEIGHT + TOP + BOTTOM), seconds))
  const height = 50 + panels.length * (HEIGHT + TOP + BOTTOM)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
${text(LEFT, 24, heading, 'font-size="15" font-weight="bold"')}
${drawn.join('\n')}
</svg>
`
}

function panelAt({ title, unit, lines }: Panel, top: number, seconds: number): string {
  const values = Object.values(lines).flat()
  const most = ceiling(Math.max(0, ...values.map(([, value]) => value)))
  const x = (at: number) => LEFT + (at / seconds) * (WIDTH - LEFT - RIGHT)
  const y = (value: number) => top + TOP + HEIGHT * (1 - value / most)
  const grid = [0, 0.5, 1].map((share) => {
    const at = y(share * most).toFixed(1)
    const label = text(LEFT - 8, Number(at) + 4, number(share * most), 'text-anchor="end" fill="#57606a"')
    return `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}" stroke="#d0d7de"/>${label}`
  })
  const times = [0, 0.25, 0.5, 0.75, 1].map((share) =>
    text(x(share * seconds), top + TOP + HEIGHT + 16, time(share * seconds), 'text-anchor="middle" fill="#57606a"'),
  )
  const drawn = Object.entries(lines).map(([name, points], index) => {
    const colour = COLOURS[index % COLOURS.length]
    const path = points.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
    const legend = text(WIDTH - RIGHT + 10, top + TOP + 12 + 16 * index, name, `fill="${colour}"`)
    return `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${path}"/>${legend}`
  })
  return [text(LEFT, top + TOP - 8, `${title}, ${unit}`, 'font-weight="bold"'), ...grid, ...times, ...drawn].join('\n')
}

const escaped = (words: string) => words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const text = (x: number, y: number, words: string, attributes: string) =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escaped(words)}</text>`
const number = (value: number) => (value >= 10 ? Math.round(value).toLocaleString('en') : value.toFixed(1))
const time = (seconds: number) => (seconds >= 120 ? `${(seconds / 60).toFixed(1)} min` : `${Math.round(seconds)} s`)

/** The next round number. */
function ceiling(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return (([1, 2, 5, 10] as const).find((step) => step * power >= value) ?? 10) * power
}
