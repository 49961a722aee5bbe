import type { ComponentChildren } from 'preact'
import { store } from '../data/store.ts'

export interface Question {
  readonly title: string
  /** What will be so afterwards, in numbers where there are some. */
  readonly body: ComponentChildren
  readonly action: string
  /** What the other button says. Default: Cancel. */
  readonly stay?: string
  readonly danger?: boolean
  /** What must be typed first, where it cannot be undone. */
  readonly typed?: string
}

/** The question that is on the page, with what is to be called with its answer. */
export const asked = store<(Question & { readonly answer: (yes: boolean) => void }) | undefined>(undefined)

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
