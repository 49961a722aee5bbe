import { createContext } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { asked, confirmed } from '../confirmed.ts'

/** A form on the page: whether leaving it would lose input. */
export interface Draft {
  isUnsaved: boolean
}

/** The forms on the page. */
const onPage = new Set<Draft>()

export function enters(draft: Draft): () => void {
  onPage.add(draft)
  return () => onPage.delete(draft)
}

/** For what is changed without a form. */
export function useUnsaved(isUnsaved: boolean): Draft {
  const draft = useRef<Draft>({ isUnsaved }).current
  draft.isUnsaved = isUnsaved
  useEffect(() => enters(draft), [draft])
  return draft
}

/** The forms in the dialog around, which asks for them before it closes. */
export const DialogDrafts = createContext<Set<Draft> | undefined>(undefined)

export const anyUnsaved = (drafts: Iterable<Draft> = onPage): boolean =>
  [...drafts].some((draft) => onPage.has(draft) && draft.isUnsaved)

/** Continues at once if no input would be lost, else after the person has agreed to lose it. */
export function leave(goOn: () => void, drafts: Iterable<Draft> = onPage): void {
  if (!anyUnsaved(drafts)) goOn()
  else if (!asked.get()) {
    void confirmed({
      title: 'Leave without saving?',
      body: 'What you changed here is lost.',
      action: 'Leave',
      stay: 'Stay',
      danger: true,
    }).then((yes) => {
      if (!yes) return
      for (const draft of drafts) draft.isUnsaved = false
      goOn()
    })
  }
}

// Closing the page, reading it anew, or following a link out of the console: the browser asks, in its own words.
addEventListener('beforeunload', (event) => {
  if (anyUnsaved()) event.preventDefault()
})
