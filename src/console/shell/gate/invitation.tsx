import { useState } from 'preact/hooks'
import { type Answer, api } from '../../data/client.ts'
import { queries, useApi } from '../../data/query.ts'
import { ButtonLink } from '../../design/button.tsx'
import { useForm } from '../../design/form/form.tsx'
import { moment } from '../../design/format.ts'
import { Facts } from '../../design/page.tsx'
import { Loaded } from '../../design/states.tsx'
import { Card, CardForm, useSecretOfLink } from './card.tsx'
import { NewPassword } from './new-password.tsx'

type Offer = Answer<'GET /auth/invitations/{token}'>

/** What somebody is invited to, before anything is asked of them. */
export function Invitation() {
  const token = useSecretOfLink({ isKept: true })
  const read = useApi('GET /auth/invitations/{token}', { params: { token: token || 'none' } })
  return (
    <Card title="Invitation to the gateway">
      <Loaded of={read}>
        {(offer) =>
          offer.valid ? (
            <Accepting offer={offer} token={token} />
          ) : (
            <p>
              This invitation was used already, was withdrawn, or is too old. Ask the person who invited you for another
              one.
            </p>
          )
        }
      </Loaded>
    </Card>
  )
}

function Accepting({ offer, token }: { readonly offer: Offer; readonly token: string }) {
  const { data: config } = useApi('GET /auth/config')
  const [toSignIn, setToSignIn] = useState(false)
  const form = useForm({ password: '' }, { asks: false })
  async function accept(): Promise<void> {
    const body = { token, ...(offer.password_required ? form.values : {}) }
    let next: string | undefined
    const done = await form.submit(async () => {
      next = (await api('POST /auth/invitations/accept', { body })).next_step
    })
    if (!done) return
    if (next === 'login') setToSignIn(true)
    else {
      await queries.resetQueries()
      location.assign('/console')
    }
  }
  if (toSignIn) {
    return (
      <>
        <p role="status">You are in. Sign in to go on.</p>
        <ButtonLink kind="primary" href="/console/sign-in">
          Sign in
        </ButtonLink>
      </>
    )
  }
  return (
    <>
      <Facts
        of={[
          ['E-mail', offer.email ?? undefined],
          ['Organization', offer.organization ? (offer.organization.name ?? offer.organization.id) : undefined],
          ['Role there', words(offer.organization_role)],
          ['Team', offer.team ? (offer.team.name ?? offer.team.id) : undefined],
          ['Role in it', words(offer.team_role)],
          ['Ends', offer.expires_at ? moment(offer.expires_at) : undefined],
        ]}
      />
      {offer.password_required && config?.sso && (
        <ButtonLink href={`/auth/login?next=${encodeURIComponent('/console/invite')}`}>
          Continue with {config.sso.label}
        </ButtonLink>
      )}
      <CardForm form={form} action="Accept" onSubmit={accept}>
        {offer.password_required ? <NewPassword form={form} name="password" email={offer.email} /> : null}
      </CardForm>
    </>
  )
}

const words = (role: string | null) => role?.replaceAll('_', ' ')
