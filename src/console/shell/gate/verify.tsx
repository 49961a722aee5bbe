import { useState } from 'preact/hooks'
import { api } from '../../data/client.ts'
import { Button } from '../../design/button.tsx'
import { TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { CardForm } from './card.tsx'

/** Asks for the code of the second factor, or for one of the recovery codes. */
export function VerifyForm({ onDone }: { readonly onDone: () => void }) {
  const [recovering, setRecovering] = useState(false)
  const form = useForm({ code: '' }, { asks: false })
  async function verify(): Promise<void> {
    const code = recovering ? form.values.code.trim() : form.values.code.replace(/\s/g, '')
    if (await form.submit(() => api('POST /auth/mfa/verify', { body: { code } }))) onDone()
  }
  return (
    <>
      <CardForm form={form} action="Go on" onSubmit={verify}>
        {recovering ? (
          <TextField form={form} name="code" label="Recovery code" mono hint="Each of them works once." />
        ) : (
          <TextField
            form={form}
            name="code"
            label="Code"
            mono
            autoComplete="one-time-code"
            hint="The six digits that your app shows now."
          />
        )}
      </CardForm>
      <Button
        kind="plain"
        small
        onClick={() => {
          form.reset({ code: '' })
          setRecovering(!recovering)
        }}
      >
        {recovering ? 'Use a code of the app' : 'Use a recovery code'}
      </Button>
    </>
  )
}
