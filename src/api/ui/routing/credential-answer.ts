import * as z from 'zod'
import { GatewayError } from '../../../lib/errors.ts'
import { lazily } from '../../../lib/lazily.ts'
import { MASK } from '../../../lib/secret.ts'
import type { CredentialRecord } from '../../../stores/sql/credential-records.ts'
import type { ApiServices } from '../../scope.ts'

/** The most deployments that an answer names. */
const MOST_NAMED = 100

/** A credential as the API shows it: secrets are masks. */
export const credentialAnswer = lazily(() =>
  z.object({
    name: z.string(),
    provider: z.string(),
    gateway_params: z.record(z.string(), z.unknown()).describe(`Secrets show as ${MASK}.`),
    used_by: z.int().describe('The number of deployments that name it.'),
    deployments: z.array(z.string()).describe(`Their ids, of the configuration file too; at most ${MOST_NAMED}.`),
    rotated_at: z.iso.datetime().describe('When its secrets changed last.'),
    version: z.int().describe('Increases with every change.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  }),
)

export type CredentialAnswer = z.output<ReturnType<typeof credentialAnswer>>

export async function shownCredentials(
  services: ApiServices,
  records: readonly CredentialRecord[],
): Promise<CredentialAnswer[]> {
  const users = await usersOf(
    services,
    records.map(({ name }) => name),
  )
  return records.map(({ sealed: _, ...record }) => {
    const ids = users.get(record.name) ?? []
    return { ...record, used_by: ids.length, deployments: ids.slice(0, MOST_NAMED) }
  })
}

/** The ids of the deployments that name each credential: those of the database and those of the configuration file, even
 *  of entries that the database overrides, since the override may be removed. */
export async function usersOf(
  { records, config }: ApiServices,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const stored = await records.credentials.namedBy(names)
  return new Map(
    names.map((name) => {
      const ofFile = config.model_list.filter(({ gateway_params }) => gateway_params.credential === name)
      const ids = new Set([...(stored.get(name) ?? []), ...ofFile.map(({ deployment_id }) => deployment_id)])
      return [name, [...ids].sort()]
    }),
  )
}

/** The refusal of a change that would break deployments. */
export function credentialInUse(what: string, ids: readonly string[]): GatewayError {
  const more = ids.length > MOST_NAMED ? ` and ${ids.length - MOST_NAMED} more` : ''
  const message = `${what}: ${ids.slice(0, MOST_NAMED).join(', ')}${more}.`
  return new GatewayError('conflict', message, { param: 'name', code: 'credential_in_use' })
}
