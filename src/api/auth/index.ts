import type { Route } from '../route.ts'
import { login } from './login.ts'
import { logout } from './logout.ts'
import { me } from './me.ts'
import { secondFactorRoutes } from './mfa/index.ts'
import { ownSessions } from './sessions.ts'

/** People's way in. */
export const authRoutes: readonly Route[] = [login, logout, me, ...ownSessions, ...secondFactorRoutes]
