import * as z from 'zod'
import { mistake } from '../../config/accepted.ts'
import { GatewayError } from '../../lib/errors.ts'
import { lazily } from '../../lib/lazily.ts'
import type { ApiServices } from '../scope.ts'

// What the routes of the registry's records share: deployments, credentials, route groups and their policies, prompts,
// servers of tools.

const TO_CHANGE = 'The version to change; any other answers 409.'

/** The version that a client read before it sent a change. */
export const expectedVersion = lazily(() => z.int32().optional().describe(TO_CHANGE))

/** The same of what callers are read from: the versions of all these are numbered together. */
export const expectedScopeVersion = lazily(() => z.int().min(0).optional().describe(TO_CHANGE))

/** Reads the registry after a change, so that this process applies it at once. The change is stored even where the
 *  reading fails. */
export async function reload({ live }: ApiServices): Promise<void> {
  await live.refresh().catch(() => {})
}

/** Looks into the registry, and once more after reading it again: another process may have added what is looked for. */
export async function findFresh<Found>(
  { live }: ApiServices,
  find: () => Found | undefined,
): Promise<Found | undefined> {
  const known = find()
  if (known !== undefined) return known
  await live.refresh()
  return find()
}

/** Refuses a body that names another record than the path. */
export function requireSameId(field: string, given: unknown, id: string, noun: string): void {
  if (given === undefined || given === id) return
  throw mistake(field, `cannot be changed; make another ${noun} and delete this one`)
}

/** The refusal of a change of a record that changed after the client read it. */
export function changedMeanwhile(noun: string, param = 'version'): GatewayError {
  const message = `Somebody else has changed this ${noun} meanwhile. Read it again, and repeat your change.`
  return new GatewayError('conflict', message, { param, code: 'version_conflict' })
}

/** The refusal of a change of what only the configuration file has. */
export function keptInFile(field: string, noun: string): GatewayError {
  const message = `This ${noun} is an entry of the configuration file, which is changed there. A new one with the same ${field} stands in its place.`
  return new GatewayError('conflict', message, { param: field, code: 'kept_in_file' })
}

/** Refuses a name that calls would never reach: an alias goes before it. */
export function refuseAlias({ config }: ApiServices, field: string, name: unknown): void {
  if (typeof name !== 'string' || !Object.hasOwn(config.router_settings.model_group_alias, name)) return
  throw mistake(field, 'is an alias of router_settings.model_group_alias; choose another name')
}
