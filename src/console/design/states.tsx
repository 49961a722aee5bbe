import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type ApiError, stopReading } from '../data/client.ts'
import { Button, CopyButton } from './button.tsx'
import { ago } from './format.ts'

/** An empty state: what would be here, and one action. */
export function Empty({
  title,
  children,
  actions,
}: {
  readonly title: string
  readonly children?: ComponentChildren
  readonly actions?: ComponentChildren
}) {
  return (
    <div class="blank">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {actions && <div class="row">{actions}</div>}
    </div>
  )
}

/** An error in the gateway's words. Data that was read before stays below it, with its age. */
export function Failure({
  error,
  retry,
  readAt = 0,
}: {
  readonly error: ApiError
  readonly retry?: (() => void) | undefined
  readonly readAt?: number
}) {
  const refused = error.status === 403
  return (
    <div class={refused ? 'notice warn' : 'notice bad'} role="alert">
      <span class="grow">
        {error.message}
        {readAt > 0 && ` What is shown was read ${ago(readAt)}.`}
      </span>
      {error.requestId && (
        <span class="small">
          <span class="mono">{error.requestId}</span> <CopyButton text={error.requestId} label="Copy the request id" />
        </span>
      )}
      {retry && (
        <Button small onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}

/** Whether a wait has lasted `ms`. */
export function useLate(ms: number): boolean {
  const [late, setLate] = useState(false)
  useEffect(() => {
    setLate(false)
    const timer = setTimeout(() => setLate(true), ms)
    return () => clearTimeout(timer)
  }, [ms])
  return late
}

/** After so long it is said that something takes long. */
export const SLOW_MS = 4000

/** Something is read for the first time. Shown only where it takes a while. */
export function Loading({ lines = 4 }: { readonly lines?: number }) {
  const late = useLate(150)
  const later = useLate(SLOW_MS)
  if (!late) return null
  return (
    <div class="stack" role="status" aria-label="Reading">
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} width={90 - ((line * 17) % 45)} />
      ))}
      {later && <StillReading />}
    </div>
  )
}

/** Lets the person stop a long request, which then counts as failed and can be repeated. */
export function StillReading() {
  return (
    <p class="row small">
      Still reading…
      <Button small onClick={() => stopReading(SLOW_MS)}>
        Cancel
      </Button>
    </p>
  )
}

/** The place of something that is being read. The width is in percent. */
export function Skeleton({ width = 100 }: { readonly width?: number }) {
  return (
    <svg width={`${width}%`} height="10" aria-hidden="true">
      <rect width="100%" height="10" rx="5" fill="var(--line)" />
    </svg>
  )
}

export function Notice({
  tone = 'info',
  children,
  actions,
}: {
  readonly tone?: 'info' | 'warn' | 'bad' | 'ok'
  readonly children: ComponentChildren
  readonly actions?: ComponentChildren
}) {
  return (
    <div class={`notice ${tone}`}>
      <span class="grow">{children}</span>
      {actions}
    </div>
  )
}

/** Something that is read, as far as it is shown. */
export interface Read<Data> {
  readonly data: Data | undefined
  readonly error: ApiError | null
  readonly dataUpdatedAt: number
  refetch(): unknown
}

/** Shows the result of a query, or that it is loading or failed. */
export function Loaded<Data>({
  of,
  lines,
  children,
}: {
  readonly of: Read<Data>
  readonly lines?: number
  readonly children: (data: Data) => ComponentChildren
}) {
  const { data, error, dataUpdatedAt } = of
  return (
    <>
      {error && <Failure error={error} retry={() => of.refetch()} readAt={data === undefined ? 0 : dataUpdatedAt} />}
      {data === undefined ? !error && <Loading lines={lines ?? 4} /> : children(data)}
    </>
  )
}
