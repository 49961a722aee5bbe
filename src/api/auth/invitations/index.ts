import type { Route } from '../../route.ts'
import { acceptInvitation } from './accept.ts'
import { inspectInvitation } from './inspect.ts'

export const invitationRoutes: readonly Route[] = [inspectInvitation, acceptInvitation]
