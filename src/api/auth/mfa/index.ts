import type { Route } from '../../route.ts'
import { disable } from './disable.ts'
import { enroll } from './enroll.ts'
import { renewRecoveryCodes } from './recovery-codes.ts'
import { verify } from './verify.ts'

/** The second factor of one's own account. */
export const secondFactorRoutes: readonly Route[] = [...enroll, verify, disable, renewRecoveryCodes]
