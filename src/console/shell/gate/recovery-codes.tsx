import { Button, CopyButton } from '../../design/button.tsx'

/** The recovery codes, shown once. The person continues by confirming that they are saved. */
export function RecoveryCodes({ codes, onSaved }: { readonly codes: readonly string[]; readonly onSaved: () => void }) {
  const text = `${codes.join('\n')}\n`
  function download(): void {
    const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
    const link = document.createElement('a')
    link.href = address
    link.download = 'recovery-codes.txt'
    link.click()
    URL.revokeObjectURL(address)
  }
  return (
    <>
      <p>
        Each of these codes lets you in once when you do not have the app. They are shown now and never again: keep them
        where you keep passwords.
      </p>
      <ol class="codes mono">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ol>
      <p class="row">
        <CopyButton text={text}>Copy</CopyButton>
        <Button small icon="download" onClick={download}>
          Download
        </Button>
        <Button small onClick={() => print()}>
          Print
        </Button>
      </p>
      <Button kind="primary" class="wide" onClick={onSaved}>
        I have saved them
      </Button>
    </>
  )
}
