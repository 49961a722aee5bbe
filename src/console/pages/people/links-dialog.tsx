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
          <LinkField key={email} email={email} link={invitation?.invitation_url ?? ''} />
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

/** The link by which a person sets a new password, shown once. */
export function ResetLinkDialog({
  email,
  link,
  onClose,
}: {
  readonly email: string
  /** Of a gateway that does not know its own address: a path. */
  readonly link: string
  readonly onClose: () => void
}) {
  return (
    <Dialog
      title="Pass this link on"
      onClose={onClose}
      stays
      footer={
        <Button kind="primary" onClick={onClose}>
          I have passed it on
        </Button>
      }
    >
      <div class="stack">
        <p class="quiet">It works once, for an hour, and is shown only now.</p>
        <LinkField email={email} link={new URL(link, location.href).href} />
      </div>
    </Dialog>
  )
}

function LinkField({ email, link }: { readonly email: string; readonly link: string }) {
  return (
    <label class="field">
      <span>{email}</span>
      <span class="row">
        <input class="input mono grow" readOnly value={link} onFocus={(event) => event.currentTarget.select()} />
        <CopyButton text={link} label={`Copy the link of ${email}`} />
      </span>
    </label>
  )
}
