import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { store, useStore } from '../data/store.ts'
import { Button } from './button.tsx'

/** A dialog over the page, there as long as it is rendered. Escape and its cross close it; a click beside it does not, for
 *  that would throw away what was typed. */
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
  const dialog = useModal(() => !stays && onClose())
  const id = useId()
  const content = (
    <>
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        {!stays && <Button kind="plain" icon="close" label="Close" onClick={onClose} />}
      </header>
      <div class="dialog-body">{children}</div>
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
        {content}
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
    element.addEventListener('cancel', cancelled)
    return () => {
      element.removeEventListener('cancel', cancelled)
      element.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return dialog
}

interface Question {
  readonly title: string
  /** What will be so afterwards, in numbers where there are some. */
  readonly body: ComponentChildren
  readonly action: string
  readonly danger?: boolean
  /** What must be typed first, where it cannot be undone. */
  readonly typed?: string
}

const asked = store<(Question & { readonly answer: (yes: boolean) => void }) | undefined>(undefined)

/** Asks before something is done: `if (await confirmed({ … }))`. */
export function confirmed(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    asked.set({
      ...question,
      answer(yes) {
        asked.set(undefined)
        resolve(yes)
      },
    })
  })
}

export function Confirmation() {
  const question = useStore(asked)
  const [typed, setTyped] = useState('')
  useEffect(() => setTyped(''), [question])
  if (!question) return null
  const { title, body, action, danger = false, typed: wanted, answer } = question
  const ready = wanted === undefined || typed === wanted
  return (
    <Dialog
      title={title}
      onClose={() => answer(false)}
      onSubmit={() => ready && answer(true)}
      footer={
        <>
          <Button onClick={() => answer(false)}>Cancel</Button>
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
