import { useEffect, useRef, useState } from 'preact/hooks'
import { colourClass, labelEvery, niceScale, type Series } from './chart-scale.ts'
import { Tip } from './tip.tsx'

interface ChartProps {
  /** What is shown, for those who do not see it; the numbers are in the table of the page. */
  readonly label: string
  /** The names of the moments, as the axis and the tip have them. */
  readonly times: readonly string[]
  readonly series: readonly Series[]
  readonly format: (value: number) => string
  /** How the axis tells values, where that is another way. */
  readonly axis?: ((value: number) => string) | undefined
  /** The same moments of another time, as one line over the others. */
  readonly before?: Series | undefined
  readonly kind?: 'bars' | 'lines'
  readonly height?: number
  /** The last moment has not ended. */
  readonly unfinished?: boolean
  /** Somebody chose moments, from the first to the last. */
  readonly onRange?: ((from: number, to: number) => void) | undefined
  readonly legend?: boolean
}

const LEFT = 52
const BOTTOM = 22
const TOP = 8

/** Values over time: stacked bars or lines, from a zero at the bottom. Arrows read it value by value; dragging, or
 *  arrows with Shift and then Enter, choose a range. */
export function Chart({
  label,
  times,
  series,
  format,
  axis = format,
  before,
  kind = 'bars',
  height = 200,
  unfinished = false,
  onRange,
  legend = series.length > 1,
}: ChartProps) {
  const told = before ? [...series, before] : series
  const host = useRef<HTMLDivElement>(null)
  const width = useWidth(host)
  const [at, setAt] = useState<number>()
  const [from, setFrom] = useState<number>()
  const count = times.length
  const inner = Math.max(10, width - LEFT)
  const step = inner / Math.max(1, count)
  const bottom = height - BOTTOM
  const sums = times.map((_, moment) => series.reduce((sum, { values }) => sum + (values[moment] ?? 0), 0))
  const lines = kind === 'bars' ? [] : series
  const greatest = Math.max(
    0,
    ...(kind === 'bars' ? sums : []),
    ...[...lines, ...(before ? [before] : [])].flatMap(({ values }) => values.map((value) => value ?? 0)),
  )
  const { top, ticks } = niceScale(greatest)
  const y = (value: number) => bottom - (value / top) * (bottom - TOP)
  const every = labelEvery(count, inner)

  const momentAt = (event: PointerEvent) => {
    const box = (host.current as HTMLDivElement).getBoundingClientRect()
    return Math.max(0, Math.min(count - 1, Math.floor((event.clientX - box.left - LEFT) / step)))
  }
  function choose(to: number): void {
    if (from !== undefined && onRange && from !== to) onRange(Math.min(from, to), Math.max(from, to))
    setFrom(undefined)
  }
  function key(event: KeyboardEvent): void {
    const move = { ArrowRight: 1, ArrowLeft: -1, Home: -count, End: count }[event.key]
    if (move !== undefined) {
      event.preventDefault()
      const now = at ?? (move > 0 ? -1 : count)
      if (!event.shiftKey) setFrom(undefined)
      else if (from === undefined) setFrom(Math.max(0, Math.min(count - 1, now)))
      setAt(Math.max(0, Math.min(count - 1, now + move)))
    } else if (event.key === 'Enter' && at !== undefined) choose(at)
    else if (event.key === 'Escape') {
      setAt(undefined)
      setFrom(undefined)
    }
  }
  const chosen = at === undefined ? undefined : { first: Math.min(from ?? at, at), last: Math.max(from ?? at, at) }
  const spoken = at === undefined ? label : `${times[at]}: ${wordsAt(told, at, format)}`

  return (
    <div class="chart" ref={host}>
      <svg
        height={height}
        role="img"
        tabIndex={0}
        aria-label={spoken}
        onKeyDown={key}
        onBlur={() => setAt(undefined)}
        onPointerMove={(event) => setAt(momentAt(event))}
        onPointerLeave={() => {
          setAt(undefined)
          setFrom(undefined)
        }}
        onPointerDown={(event) => onRange && setFrom(momentAt(event))}
        onPointerUp={(event) => choose(momentAt(event))}
      >
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="grid" x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} />
            <text class="axis" x={LEFT - 8} y={y(tick) + 4} text-anchor="end">
              {axis(tick).replace(/(\.\d\d)0+$/, '$1')}
            </text>
          </g>
        ))}
        {times.map((time, moment) =>
          moment % every === 0 && (moment === 0 || LEFT + moment * step + 60 < width || every === 1) ? (
            <text key={time} class="axis" x={LEFT + (moment + 0.5) * step} y={height - 5} text-anchor="middle">
              {time}
            </text>
          ) : null,
        )}
        {chosen && (
          <rect
            class="cursor"
            x={LEFT + chosen.first * step}
            width={(chosen.last - chosen.first + 1) * step}
            y={TOP}
            height={bottom - TOP}
          />
        )}
        {kind === 'bars'
          ? times.map((time, moment) => (
              <Stack
                key={time}
                {...{ series, moment, y, bottom }}
                x={LEFT + moment * step}
                width={step}
                unfinished={unfinished && moment === count - 1}
              />
            ))
          : series.map(({ id, values }) => (
              <path
                key={id}
                class={`line ${colourClass(id)}`}
                d={linePath(values, (moment) => LEFT + (moment + 0.5) * step, y)}
              />
            ))}
        {before && (
          <path
            class={`line ${colourClass(before.id)}`}
            stroke-dasharray="5 4"
            d={linePath(before.values, (moment) => LEFT + (moment + 0.5) * step, y)}
          />
        )}
      </svg>
      {at !== undefined && (
        <Tip
          left={LEFT + (at + 0.5) * step}
          {...{ width, at, format }}
          series={told}
          time={times[at] ?? ''}
          sum={kind === 'bars' && series.length > 1 ? (sums[at] ?? 0) : undefined}
        />
      )}
      {legend && <Legend series={told} />}
    </div>
  )
}

function Stack({
  series,
  moment,
  x,
  width,
  y,
  bottom,
  unfinished,
}: {
  readonly series: readonly Series[]
  readonly moment: number
  readonly x: number
  readonly width: number
  readonly y: (value: number) => number
  readonly bottom: number
  readonly unfinished: boolean
}) {
  const gap = width > 6 ? Math.min(4, width * 0.2) : width > 3 ? 1 : 0
  const bar = Math.max(0.5, Math.min(width - gap, 48))
  let below = 0
  return (
    <g class={unfinished ? 'unfinished' : undefined}>
      {series.map(({ id, values }) => {
        const value = values[moment] ?? 0
        if (value <= 0) return null
        const low = y(below)
        below += value
        const high = Math.min(y(below), low - 1)
        return (
          <rect
            key={id}
            class={colourClass(id)}
            stroke="none"
            x={x + (width - bar) / 2}
            width={bar}
            y={high}
            height={Math.max(0, Math.min(low, bottom) - high)}
          />
        )
      })}
    </g>
  )
}

/** The path of a line, with gaps for unknown values. */
function linePath(
  values: ReadonlyArray<number | null>,
  x: (moment: number) => number,
  y: (value: number) => number,
): string {
  let path = ''
  let drawing = false
  values.forEach((value, moment) => {
    if (value === null) drawing = false
    else {
      const point = `${x(moment).toFixed(1)} ${y(value).toFixed(1)}`
      // A value between two unknown ones is a dot.
      path += drawing ? `L${point}` : `M${point}h.1`
      drawing = true
    }
  })
  return path
}

const wordsAt = (series: readonly Series[], at: number, format: (value: number) => string) =>
  series
    .map(({ label, values }) => [label, values[at]] as const)
    .filter(([, value]) => value !== null && value !== undefined && value !== 0)
    .map(([label, value]) => `${label} ${format(value as number)}`)
    .join(', ') || 'nothing'

function Legend({ series }: { readonly series: readonly Series[] }) {
  return (
    <ul class="legend">
      {series.map(({ id, label }) => (
        <li key={id}>
          <span class={`key-colour ${colourClass(id)}`} />
          <span class="cut">{label}</span>
        </li>
      ))}
    </ul>
  )
}

/** The current width of an element: charts are drawn unscaled, because scaling would scale their text. */
function useWidth(host: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(640)
  useEffect(() => {
    const { current } = host
    if (!current) return undefined
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.round(entry.contentRect.width)))
    observer.observe(current)
    return () => observer.disconnect()
  }, [host])
  return width
}
