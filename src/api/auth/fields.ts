import * as z from 'zod'
import { storable } from '../ui/storable.ts'

/** An address that somebody typed. Whether it is one, the list of accounts says. */
export const emailField = () => storable().min(1).max(320)

/** A password that is compared with one, or that is to become one: which of them are good enough says the rule for them. */
export const givenPassword = () => z.string().min(1).max(4096)
