import * as z from 'zod'
import { storable } from '../storable.ts'

/** The e-mail address of an account, as typed: it is compared with those of accounts, so its form is not checked. */
export const emailField = () => storable().min(1).max(320)

/** A password to compare or to set. `password-rules.ts` decides whether a new one is good enough. */
export const givenPassword = () => z.string().min(1).max(4096)
