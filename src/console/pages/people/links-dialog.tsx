import type { Answer } from '../../data/client.ts'
import { Button, CopyButton } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { Notice } from '../../design/states.tsx'

/** What became of the invitation of one address. */
export interface Outcome {
  readonly email: string
  readonly invitation?: Pick<Answer<'POST /ui/api/invitations'>, 'invitation_id' | 'invitation_url'>
  readonly problem?: string
}

/** Links that are shown once, and what could not be done. */
export function LinksDialog({
  outcomes,
  onClose,
}: {
  readonly outcomes: readonly Outcome[]
  readonly onClose: () => void
}) {
  const links = outcomes.filter(({ invitation }) => invitation?.invitation_url)
  const failed = outcomes.filter(({ problem }) => problem !== undefined)
  const sent = outcomes.length - links.length - failed.length
  const all = links.map(({ email, invitation }) => `${email} ${invitation?.invitation_url}`).join('\n')
  return (
    <Dialog
      title={
        links.length > 0 ? (links.length === 1 ? 'Pass this link on' : 'Pass these links on') : 'Not all are invited'
      }
      onClose={onClose}
      stays={links.length > 0}
      footer={
        <>
          {links.length > 1 && <CopyButton text={all}>Copy all</CopyButton>}
          <Button kind="primary" onClick={onClose}>
            {links.length > 0 ? 'I have passed them on' : 'Close'}
          </Button>
        </>
      }
    >
      <div class="stack">
        {links.length > 0 && (
          <p class="quiet">
            The gateway sends no e-mail, so this is up to you. Each link works once, for 72 hours, and is shown only
            now.
          </p>
        )}
        {links.map(({ email, invitation }) => (
          <label class="field" key={email}>
            <span>{email}</span>
            <span class="row">
              <input
                class="input mono grow"
                readOnly
                value={invitation?.invitation_url}
                onFocus={(event) => event.currentTarget.select()}
              />
              <CopyButton text={invitation?.invitation_url ?? ''} label={`Copy the link of ${email}`} />
            </span>
          </label>
        ))}
        {sent > 0 && (
          <Notice>{sent === 1 ? 'One invitation is' : `${sent} invitations are`} on the way by e-mail.</Notice>
        )}
        {failed.map(({ email, problem }) => (
          <Notice tone="bad" key={email}>
            {email}: {problem}
          </Notice>
        ))}
      </div>
    </Dialog>
  )
}
