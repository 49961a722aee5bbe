import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useStore } from '../data/store.ts'
import { Button } from './button.tsx'
import { asked } from './confirmed.ts'
import { DialogDrafts, type Draft, leave } from './form/unsaved.ts'
import { Guard } from './guard.tsx'

/** A modal dialog, open as long as it is rendered. Escape and its cross close it, after a question if input would be
 *  lost; a click beside it does nothing. */
export function Dialog({
  title,
  onClose,
  onSubmit,
  children,
  footer,
  wide = false,
  stays = false,
  class: kind = 'dialog',
}: {
  readonly title: string
  readonly onClose: () => void
  /** With it the dialog is a form. */
  readonly onSubmit?: (() => void) | undefined
  readonly children: ComponentChildren
  readonly footer?: ComponentChildren
  readonly wide?: boolean
  /** Only a button of its own closes it: for what is shown once. */
  readonly stays?: boolean
  readonly class?: string
}) {
  const drafts = useRef(new Set<Draft>()).current
  const close = () => leave(onClose, drafts)
  const dialog = useModal(() => !stays && close())
  const id = useId()
  const content = (
    <>
      <header class="dialog-head">
        <h2 id={id} tabIndex={-1}>
          {title}
        </h2>
        {!stays && <Button kind="plain" icon="close" label="Close" onClick={close} />}
      </header>
      <div class="dialog-body">
        <Guard>{children}</Guard>
      </div>
      {footer && <footer class="dialog-foot">{footer}</footer>}
    </>
  )
  return (
    <dialog ref={dialog} class={wide ? `${kind} wide` : kind} aria-labelledby={id}>
      <form
        method="dialog"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          onSubmit?.()
        }}
      >
        <DialogDrafts.Provider value={drafts}>{content}</DialogDrafts.Provider>
      </form>
    </dialog>
  )
}

/** Opens the element as a modal dialog, and gives the focus back to where it was. */
export function useModal(onCancel: () => void) {
  const dialog = useRef<HTMLDialogElement>(null)
  const cancel = useRef(onCancel)
  cancel.current = onCancel
  useLayoutEffect(() => {
    const element = dialog.current
    if (!element) return undefined
    const before = document.activeElement
    element.showModal()
    const field = element.querySelector<HTMLElement>(
      '[autofocus], .dialog-body :is(input, select, textarea):not([type=hidden])',
    )
    field?.focus()
    const cancelled = (event: Event) => {
      event.preventDefault()
      cancel.current()
    }
    // Browsers close a dialog on a second Escape even if the first one was prevented.
    const escaped = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || element.querySelector(':popover-open')) return
      cancelled(event)
    }
    element.addEventListener('cancel', cancelled)
    element.addEventListener('keydown', escaped)
    return () => {
      element.removeEventListener('cancel', cancelled)
      element.removeEventListener('keydown', escaped)
      element.close()
      focusAgain(before)
    }
  }, [])
  return dialog
}

/** Gives the focus back to what had it; where that is gone, to what is over the page, or to the page. */
export function focusAgain(before: Element | null): void {
  if (!(before instanceof HTMLElement) || before === document.body) return
  before.focus()
  if (document.activeElement === before) return
  const over = [...document.querySelectorAll<HTMLElement>('dialog[open] h2')].at(-1)
  const rest = over ?? document.getElementById('main')
  rest?.focus()
}

export function Confirmation() {
  const question = useStore(asked)
  const [typed, setTyped] = useState('')
  useEffect(() => setTyped(''), [question])
  if (!question) return null
  const { title, body, action, stay = 'Cancel', danger = false, typed: wanted, answer } = question
  const ready = wanted === undefined || typed === wanted
  return (
    <Dialog
      title={title}
      onClose={() => answer(false)}
      onSubmit={() => ready && answer(true)}
      footer={
        <>
          <Button onClick={() => answer(false)}>{stay}</Button>
          <Button type="submit" kind={danger ? 'danger' : 'primary'} disabled={!ready}>
            {action}
          </Button>
        </>
      }
    >
      <div>{body}</div>
      {wanted !== undefined && (
        <label class="field">
          <span class="label">
            Type <b class="mono">{wanted}</b> to go on
          </span>
          <input
            class="input"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
          />
        </label>
      )}
    </Dialog>
  )
}
