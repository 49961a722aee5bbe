import { useEffect, useRef } from 'preact/hooks'
import { colourClass, type Series } from './chart-scale.ts'

/** What a chart shows at a moment, beside it. */
export function Tip({
  left,
  width,
  series,
  at,
  time,
  sum,
  format,
}: {
  readonly left: number
  readonly width: number
  readonly series: readonly Series[]
  readonly at: number
  readonly time: string
  readonly sum: number | undefined
  readonly format: (value: number) => string
}) {
  const tip = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // Beside the moment, on the side that has room.
    if (tip.current)
      tip.current.style.translate = `${left > width / 2 ? left - tip.current.offsetWidth - 14 : left + 14}px`
  })
  const shown = series.filter(({ values }) => values[at] !== null && values[at] !== undefined && values[at] !== 0)
  return (
    <div ref={tip} class="chart-tip" aria-hidden="true">
      <div class="quiet">{time}</div>
      {shown.map(({ id, label, values }) => (
        <div key={id} class="row">
          <span class={`key-colour ${colourClass(id)}`} />
          <span class="grow cut">{label}</span>
          <b>{format(values[at] as number)}</b>
        </div>
      ))}
      {shown.length === 0 && <div>nothing</div>}
      {sum !== undefined && shown.length > 1 && (
        <div class="row">
          <span class="grow">Together</span>
          <b>{format(sum)}</b>
        </div>
      )}
    </div>
  )
}
