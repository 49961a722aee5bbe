import { useState } from 'preact/hooks'
import { api } from '../../data/client.ts'
import { refresh } from '../../data/query.ts'
import { useSession } from '../../data/session.ts'
import { State } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { Section } from '../../design/page.tsx'
import { toast } from '../../design/toast.tsx'
import { Enrolment } from '../../shell/gate/enrolment.tsx'
import { RecoveryCodes } from '../../shell/gate/recovery-codes.tsx'

/** Setting up the second factor, taking it away, and new recovery codes: the latter two take a code. */
export function SecondFactor() {
  const { mfa_enabled } = useSession()
  const [doing, setDoing] = useState<'enrol' | 'disable' | 'codes'>()
  const [areCodesShown, setShown] = useState(false)
  const [codes, setCodes] = useState<readonly string[]>()
  const end = () => {
    setDoing(undefined)
    setCodes(undefined)
    setShown(false)
    void refresh('/auth/me')
  }
  return (
    <Section
      title="Second factor"
      actions={
        mfa_enabled ? (
          <>
            <Button onClick={() => setDoing('codes')}>New recovery codes</Button>
            <Button kind="danger" onClick={() => setDoing('disable')}>
              Switch off
            </Button>
          </>
        ) : (
          <Button onClick={() => setDoing('enrol')}>Set up</Button>
        )
      }
    >
      <p>
        {mfa_enabled ? (
          <State tone="ok">On: signing in takes a code of your app.</State>
        ) : (
          <State>Off: a password alone lets you in.</State>
        )}
      </p>
      {doing === 'enrol' && (
        <Dialog title="Set up a second factor" onClose={end} stays={areCodesShown}>
          <Enrolment onShown={() => setShown(true)} onDone={end} />
        </Dialog>
      )}
      {codes && (
        <Dialog title="New recovery codes" onClose={end} stays>
          <RecoveryCodes codes={codes} onSaved={end} />
        </Dialog>
      )}
      {doing === 'codes' && !codes && (
        <WithCode
          title="New recovery codes"
          action="Make new ones"
          says="The present ones work no longer."
          onClose={end}
          run={async (code) =>
            setCodes((await api('POST /auth/mfa/recovery-codes', { body: { code } })).recovery_codes)
          }
        />
      )}
      {doing === 'disable' && (
        <WithCode
          title="Switch off the second factor"
          action="Switch off"
          says="A password alone will let you in."
          onClose={end}
          run={async (code) => {
            await api('POST /auth/mfa/disable', { body: { code } })
            toast('The second factor is off.')
            end()
          }}
        />
      )}
    </Section>
  )
}

function WithCode({
  title,
  action,
  says,
  onClose,
  run,
}: {
  readonly title: string
  readonly action: string
  readonly says: string
  readonly onClose: () => void
  readonly run: (code: string) => Promise<void>
}) {
  const form = useForm({ code: '' }, { asks: false })
  return (
    <FormDialog
      form={form}
      title={title}
      save={action}
      onSave={() => void form.submit(() => run(form.values.code.trim()))}
      onClose={onClose}
    >
      <p>{says}</p>
      <TextField
        form={form}
        name="code"
        label="Code of the app, or a recovery code"
        mono
        autoComplete="one-time-code"
      />
    </FormDialog>
  )
}
