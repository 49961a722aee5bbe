import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { focusAgain, useModal } from './dialog.tsx'
import { Guard } from './guard.tsx'

const WIDE = '(min-width: 1100px)'

export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const changed = () => setMatches(list.matches)
    changed()
    list.addEventListener('change', changed)
    return () => list.removeEventListener('change', changed)
  }, [query])
  return matches
}

interface PanelProps {
  readonly title: ComponentChildren
  readonly onClose: () => void
  readonly actions?: ComponentChildren
  readonly footer?: ComponentChildren
  readonly children: ComponentChildren
}

/** The details of one row, beside the table or, without room, over it. Pass it as `panel` of a Page, with the record's
 *  id as its key. */
export function Panel(props: PanelProps) {
  return useMedia(WIDE) ? <Beside {...props} /> : <Over {...props} />
}

function Beside(props: PanelProps) {
  const id = useId()
  const panel = useRef<HTMLElement>(null)
  const { onClose } = props
  const close = useRef(onClose)
  close.current = onClose
  useLayoutEffect(() => {
    const { current: element } = panel
    const before = document.activeElement
    return () => {
      if (element?.contains(document.activeElement)) focusAgain(before)
    }
  }, [])
  useEffect(() => {
    const left = (event: KeyboardEvent) => {
      if (
        event.key !== 'Escape' ||
        event.defaultPrevented ||
        document.querySelector('dialog[open], :popover-open.menu')
      )
        return
      if ((event.target as Element).closest?.('[role="combobox"][aria-expanded="true"]')) return
      close.current()
    }
    addEventListener('keydown', left)
    return () => removeEventListener('keydown', left)
  }, [])
  return (
    <aside ref={panel} class="panel" aria-labelledby={id}>
      <Content {...props} id={id} />
    </aside>
  )
}

function Over(props: PanelProps) {
  const id = useId()
  const dialog = useModal(props.onClose)
  return (
    <dialog ref={dialog} class="panel" aria-labelledby={id}>
      <Content {...props} id={id} />
    </dialog>
  )
}

function Content({ title, actions, footer, children, onClose, id }: PanelProps & { readonly id: string }) {
  return (
    <>
      <header class="panel-head">
        <h2 id={id} tabIndex={-1}>
          {title}
        </h2>
        {actions}
        <Button kind="plain" icon="close" label="Close" onClick={onClose} />
      </header>
      <div class="panel-body">
        <Guard>{children}</Guard>
      </div>
      {footer && <footer class="panel-foot">{footer}</footer>}
    </>
  )
}
