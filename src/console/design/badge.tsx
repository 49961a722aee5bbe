import type { ComponentChildren } from 'preact'
import { Button, CopyButton } from './button.tsx'
import { useNarrow } from './list/narrow.tsx'

export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'quiet'

/** A word that is worth a colour. */
export function Badge({
  tone = 'quiet',
  children,
  title,
}: {
  readonly tone?: Tone
  readonly children: ComponentChildren
  readonly title?: string
}) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  )
}

/** A state as a shape and a word; only deviations have a colour. */
export function State({
  tone = 'quiet',
  children,
  title,
}: {
  readonly tone?: Tone
  readonly children: ComponentChildren
  readonly title?: string | undefined
}) {
  return (
    <span class={`state ${tone}`} title={title}>
      {children}
    </span>
  )
}

/** A long name, cut on the left, where names begin alike; whole as a title. */
export function Cut({ children, mono }: { readonly children: string; readonly mono?: boolean }) {
  return (
    <span class={mono ? 'cut left mono' : 'cut left'} title={children}>
      <bdi>{children}</bdi>
    </span>
  )
}

/** A record by its name, which links to it and copies its id. In a list it filters the list. */
export function Entity({
  name,
  id,
  href,
  filter,
}: {
  readonly name?: string | null | undefined
  readonly id: string | null | undefined
  readonly href?: string | undefined
  /** The filter of the list, by the name that the API has for it. */
  readonly filter?: string | undefined
}) {
  const narrow = useNarrow()
  if (!id) return <span class="quiet">–</span>
  const text = name || id
  return (
    <span class="entity">
      {href ? (
        <a href={href} class="cut" title={name ? `${name} (${id})` : id}>
          {text}
        </a>
      ) : (
        <span class="cut" title={name ? `${name} (${id})` : id}>
          {text}
        </span>
      )}
      <span class="tools">
        {filter && (
          <Button
            small
            kind="plain"
            icon="filter"
            label={`Only ${text}`}
            tabIndex={-1}
            onClick={(event) => narrow(filter, id, event, true)}
          />
        )}
        <CopyButton text={id} label={`Copy the id ${id}`} />
      </span>
    </span>
  )
}
