import type { ComponentChildren } from 'preact'
import { store } from '../data/store.ts'
import { toast } from './toast.tsx'

export interface Question {
  readonly title: string
  /** The consequences, in numbers where there are some. */
  readonly body: ComponentChildren
  readonly action: string
  /** What the other button says. Default: Cancel. */
  readonly stay?: string
  readonly danger?: boolean
  /** A text to type first, for actions that cannot be undone. */
  readonly typed?: string
}

/** The question that is shown, and the callback for its answer. */
export const asked = store<(Question & { readonly answer: (yes: boolean) => void }) | undefined>(undefined)

/** Asks for confirmation: `if (await confirmed({ … }))`. */
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

/** Asks for confirmation, does the work, and says that it is done, or why not. Resolves with whether it is done. */
export async function performed(
  { done, ...question }: Question & { readonly done: string },
  work: () => Promise<unknown>,
): Promise<boolean> {
  if (!(await confirmed(question))) return false
  try {
    await work()
  } catch (error) {
    toast((error as Error).message, { bad: true })
    return false
  }
  toast(done)
  return true
}
