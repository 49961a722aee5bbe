import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { store, useStore } from '../data/store.ts'
import { Icon } from './icons.tsx'

interface Toast {
  readonly id: number
  readonly text: ComponentChildren
  readonly bad: boolean
}

const SHOWN_MS = 6000

const shown = store<readonly Toast[]>([])
let made = 0

/** Shows in a corner that an action succeeded or failed. Failures stay until they are closed. */
export function toast(text: ComponentChildren, { bad = false }: { readonly bad?: boolean } = {}): void {
  const id = ++made
  shown.set([...shown.get().slice(-3), { id, text, bad }])
  if (!bad) setTimeout(() => close(id), SHOWN_MS)
}

const close = (id: number) => shown.set(shown.get().filter((one) => one.id !== id))

/** Above everything, also above a dialog. */
export function Toasts() {
  const toasts = useStore(shown)
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const { current } = host
    if (!current?.showPopover) return
    if (current.matches(':popover-open')) current.hidePopover()
    if (toasts.length > 0) current.showPopover()
  }, [toasts])
  return (
    <div ref={host} class="toasts" popover="manual" role="status" aria-live="polite">
      {toasts.map(({ id, text, bad }) => (
        <div key={id} class={bad ? 'toast bad' : 'toast'}>
          <div>{text}</div>
          <button type="button" class="button plain icon small" aria-label="Close" onClick={() => close(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}
