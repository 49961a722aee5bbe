import { useState } from 'preact/hooks'
import { refresh } from '../../data/query.ts'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { Section } from '../../design/page.tsx'
import { toast } from '../../design/toast.tsx'
import { ChangePassword } from '../../shell/gate/change-password.tsx'

export function Password({ email }: { readonly email: string | null }) {
  const [open, setOpen] = useState(false)
  return (
    <Section title="Password" actions={<Button onClick={() => setOpen(true)}>Change</Button>}>
      <p class="quiet">A new password ends all your other sessions.</p>
      {open && (
        <Dialog title="Change the password" onClose={() => setOpen(false)}>
          <ChangePassword
            email={email}
            onDone={() => {
              setOpen(false)
              toast('Your password is changed. Your other sessions have ended.')
              void refresh('/auth/')
            }}
          />
        </Dialog>
      )}
    </Section>
  )
}
