import * as z from 'zod'
import { lazily } from '../../../lib/lazily.ts'
import type { LoggedCall } from '../../../stores/sql/spend/spend-log.ts'
import { factFields, factsAnswer } from './fact-fields.ts'

const name = (of: string) => z.string().nullable().describe(`The name that the ${of} has now, if it has one.`)

/** The names that belong to a caller's ids. */
export const callerNames = lazily(() => ({
  key_name: name('key'),
  team_name: name('team'),
  organization_name: name('organization'),
  user_name: name('user').describe('The name or address of the user, if it has one.'),
}))

/** A call of the ledger. */
export const loggedCall = lazily(() => z.object({ ...factFields(), ...callerNames() }))

export function loggedCallAnswer(call: LoggedCall): Record<string, unknown> {
  const { key_name, team_name, organization_name, user_name } = call
  return { ...factsAnswer(call), key_name, team_name, organization_name, user_name }
}
