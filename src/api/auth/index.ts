import type { Route } from '../route.ts'
import { bootstrap } from './bootstrap.ts'
import { changePassword } from './change-password.ts'
import { authConfig } from './config.ts'
import { invitationRoutes } from './invitations/index.ts'
import { login } from './login.ts'
import { logout } from './logout.ts'
import { me } from './me.ts'
import { secondFactorRoutes } from './mfa/index.ts'
import { passwordResetRoutes } from './reset-password.ts'
import { ownSessions } from './sessions.ts'
import { singleSignOnRoutes } from './single-sign-on.ts'

/** People's way in. */
export const authRoutes: readonly Route[] = [
  authConfig,
  bootstrap,
  login,
  logout,
  me,
  changePassword,
  ...passwordResetRoutes,
  ...ownSessions,
  ...secondFactorRoutes,
  ...singleSignOnRoutes,
  ...invitationRoutes,
]
