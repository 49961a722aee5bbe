import { useEffect, useState } from 'preact/hooks'
import { useSettings } from '../data/settings.ts'
import { ago, moment, zoneName } from './format.ts'

/** A moment, relative to now, with the exact time as a title. */
export function Ago({ at, never = '–' }: { readonly at: string | number | null | undefined; readonly never?: string }) {
  useSettings()
  const [, tick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 15_000)
    return () => clearInterval(timer)
  }, [])
  if (at === null || at === undefined) return <span class="quiet">{never}</span>
  return (
    <time dateTime={new Date(at).toISOString()} title={`${moment(at)} (${zoneName()})`}>
      {ago(at)}
    </time>
  )
}

/** A moment in the chosen time zone. */
export function Moment({
  at,
  as = moment,
}: {
  readonly at: string | number
  readonly as?: (at: string | number) => string
}) {
  useSettings()
  return (
    <time dateTime={new Date(at).toISOString()} title={`${moment(at)} (${zoneName()})`}>
      {as(at)}
    </time>
  )
}
