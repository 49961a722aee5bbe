import type { InvitedPlaces } from '../../../identity/invitations/invited-access.ts'
import { newEmailId } from '../../../mail/outbox.ts'
import { invitationMail } from '../../../mail/templates.ts'
import { carriedBy, INVITATION_SECONDS, type InvitationLink } from '../../../stores/sql/people/invitation-records.ts'
import type { Query } from '../../../stores/sql/query.ts'
import { baseUrl } from '../../middleware/base-url.ts'
import type { Scope } from '../../scope.ts'

/** A new link to an invitation, which an e-mail carries, or else the person who invites. */
export interface CarriedLink {
  readonly link: InvitationLink
  /** The statement that queues the e-mail, to run with the change. */
  readonly email: Query<unknown> | undefined
  /** The link as a field of the answer, where no e-mail carries it. */
  readonly shown: { readonly invitation_url?: string }
}

export async function carriedLink(scope: Scope, email: string, places: InvitedPlaces): Promise<CarriedLink> {
  const { invitations, outbox, clock } = scope.services
  const { token, hash } = invitations.newToken()
  const url = `${baseUrl(scope)}/console/invite#${token}`
  if (!outbox.enabled) {
    return { link: { tokenHash: hash, emailId: null }, email: undefined, shown: { invitation_url: url } }
  }
  const emailId = newEmailId()
  const message = invitationMail({
    link: url,
    invitedBy: scope.session()?.account?.email,
    organization: places.organization,
    team: places.team,
    expiresAt: new Date(clock.now() + 1000 * INVITATION_SECONDS),
  })
  const composed = await outbox.compose({
    emailId,
    kind: 'invitation',
    recipient: email,
    organizationId: places.organizationId,
    message,
    onlyIf: carriedBy(emailId),
  })
  return { link: { tokenHash: hash, emailId }, email: composed, shown: {} }
}
