import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Guard } from './guard.tsx'

/** Whether a title was shown before. */
let isLater = false

/** The title of what is shown now: it is the tab's, and gets the focus where that was on what it has replaced. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Model gateway`
    if (isLater && document.activeElement === document.body)
      document.querySelector('h1')?.focus({ preventScroll: true })
    isLater = true
  }, [title])
}

/** A page: its title, what one can do, its content, and beside it a panel. */
export function Page({
  title,
  lead,
  actions,
  panel,
  children,
}: {
  readonly title: string
  /** One sentence for those who are here for the first time. */
  readonly lead?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly panel?: ComponentChildren
  readonly children: ComponentChildren
}) {
  useTitle(title)
  return (
    <div class={panel ? 'page with-panel' : 'page'}>
      <main class="page-main" id="main" tabIndex={-1}>
        <header class="page-head">
          <h1 tabIndex={-1}>{title}</h1>
          {actions}
          {lead && <p class="lead">{lead}</p>}
        </header>
        <div class="page-body">{children}</div>
      </main>
      {panel}
    </div>
  )
}

/** A part of a page. If it fails, the others stay. */
export function Section({
  title,
  actions,
  children,
  level = 2,
}: {
  readonly title: string
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
  readonly level?: 2 | 3
}) {
  const Heading = `h${level}` as const
  return (
    <section class="section">
      <header>
        <Heading>{title}</Heading>
        {actions}
      </header>
      <Guard>{children}</Guard>
    </section>
  )
}

/** One number that matters. */
export function Tile({
  label,
  value,
  note,
  href,
}: {
  readonly label: string
  readonly value: ComponentChildren
  readonly note?: ComponentChildren
  readonly href?: string
}) {
  return (
    <div class="tile">
      <span class="label">{href ? <a href={href}>{label}</a> : label}</span>
      <span class="value">{value}</span>
      {note && <span class="note">{note}</span>}
    </div>
  )
}

/** A list of names and values. Undefined values are left out. */
export function Facts({ of }: { readonly of: ReadonlyArray<readonly [string, ComponentChildren]> }) {
  return (
    <dl class="facts">
      {of
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
    </dl>
  )
}
