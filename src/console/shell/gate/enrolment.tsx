import { useEffect, useState } from 'preact/hooks'
import { encode } from 'uqr'
import { type Answer, api } from '../../data/client.ts'
import { CopyButton } from '../../design/button.tsx'
import { TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { Loading } from '../../design/states.tsx'
import { CardForm } from './card.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'

/** A second factor: the secret as a picture and as text, a first code, and the recovery codes, which are shown once. */
export function Enrolment({
  onShown,
  onDone,
}: {
  /** The recovery codes are shown now. */
  readonly onShown: () => void
  readonly onDone: () => void
}) {
  const [started, setStarted] = useState<Answer<'POST /auth/mfa/enroll/start'>>()
  const [codes, setCodes] = useState<readonly string[]>()
  const [problem, setProblem] = useState('')
  const form = useForm({ code: '' }, { asks: false })
  useEffect(() => {
    api('POST /auth/mfa/enroll/start').then(setStarted, (error: Error) => setProblem(error.message))
  }, [])
  async function confirm(): Promise<void> {
    await form.submit(async () => {
      const body = { code: form.values.code.replace(/\s/g, '') }
      const { recovery_codes } = await api('POST /auth/mfa/enroll/confirm', { body })
      onShown()
      setCodes(recovery_codes)
    })
  }
  if (problem)
    return (
      <p class="notice bad" role="alert">
        {problem}
      </p>
    )
  if (codes) return <RecoveryCodes codes={codes} onSaved={onDone} />
  if (!started) return <Loading />
  return (
    <>
      <Picture text={started.otpauth_url} />
      <div>
        <p class="quiet small">Or type this secret into the app:</p>
        <p class="row">
          <span class="mono grow wrap">{started.secret.match(/.{1,4}/g)?.join(' ')}</span>
          <CopyButton text={started.secret} label="Copy the secret" />
        </p>
      </div>
      <CardForm form={form} action="Confirm" onSubmit={confirm}>
        <TextField
          form={form}
          name="code"
          label="Code"
          mono
          autoComplete="one-time-code"
          hint="The six digits that your app shows now."
        />
      </CardForm>
    </>
  )
}

const QUIET = 3

/** A QR code, dark on light in both themes: many cameras read no other. */
function Picture({ text }: { readonly text: string }) {
  const { data, size } = encode(text, { ecc: 'M', border: 0 })
  const whole = size + 2 * QUIET
  const path = data
    .flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : '')))
    .join('')
  return (
    <svg class="qr" viewBox={`0 0 ${whole} ${whole}`} role="img" aria-label="The secret as a QR code">
      <rect width={whole} height={whole} fill="#fff" />
      <path d={path} fill="#000" shape-rendering="crispEdges" />
    </svg>
  )
}
