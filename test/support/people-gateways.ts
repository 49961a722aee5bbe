import { inject } from 'vitest'
import { preparedDatabase } from './prepared-database.ts'

/** The databases of this machine, each with the setting that a gateway reaches it by. */
export const DATABASES: readonly (readonly [name: string, setting: () => Promise<string>])[] = [
  ...(inject('postgresUrl')
    ? ([['PostgreSQL', async () => `database_url: '${await preparedDatabase(inject('postgresUrl'))}'`]] as const)
    : []),
  ['the embedded database', async () => ''],
]

/** An address from which no request of this test has come yet, as a proxy in front tells it. */
export function elsewhere(): { readonly 'x-forwarded-for': string } {
  last += 1
  return { 'x-forwarded-for': `10.${(last >> 16) & 255}.${(last >> 8) & 255}.${last & 255}` }
}

let last = 0

/** Goes with `elsewhere`: whoever connects is taken for a proxy. */
export const BEHIND_PROXY = `trusted_proxies: ['127.0.0.0/8', '::1']`
