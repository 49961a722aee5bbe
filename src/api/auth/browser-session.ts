import type { OpenedSession, SessionOpening } from '../../identity/sessions/sessions.ts'
import type { Scope } from '../scope.ts'

/** Opens a session for the browser of a request, and ends the one that the browser had. undefined: its account is not
 *  active. */
export async function browserSession(scope: Scope, opening: SessionOpening): Promise<OpenedSession | undefined> {
  const { sessions } = scope.services
  const opened = await sessions.open(opening, scope.sessionClient())
  const former = scope.session()
  if (opened && former) await sessions.end(former.sessionId)
  return opened
}
