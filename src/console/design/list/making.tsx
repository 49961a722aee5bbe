import { useEffect, useState } from 'preact/hooks'
import { shortcut } from '../../data/shortcuts.ts'
import { Button } from '../button.tsx'

/** The creation of records of a list: its button and key `c`, whether its dialog is open, and what was created since
 *  the page was opened, newest first. */
export function useMaking(label: string, may: boolean) {
  const [isOpen, setOpen] = useState(false)
  const [made, setMade] = useState<readonly string[]>([])
  const open = () => setOpen(true)
  const close = () => setOpen(false)
  useEffect(() => (may ? shortcut('c', label, open) : undefined), [may])
  return {
    button: may && (
      <Button kind="primary" icon="plus" onClick={open}>
        {label}
      </Button>
    ),
    isOpen,
    close,
    made,
    /** Closes the dialog over something new. */
    done(id: string) {
      close()
      setMade((before) => [id, ...before])
    },
  }
}
