import { useEffect } from 'preact/hooks'
import { shortcut } from '../../data/shortcuts.ts'
import { copyText } from '../../design/button.tsx'
import { toast } from '../../design/toast.tsx'

/** While a key is open, y copies its id. */
export function useCopyId(id: string): void {
  useEffect(
    () =>
      shortcut('y', 'Copy the id', () => {
        copyText(id).then(
          () => toast('The id is copied.'),
          () => toast('The browser did not let us copy.', { bad: true }),
        )
      }),
    [id],
  )
}
