import { type Secret, sameSecret } from '../lib/secret.ts'
import type { Deployment } from './deployment.ts'

type Value = string | Secret | undefined

/** The parameters, other than headers, that determine the account of a call. */
const CREDENTIALS = [
  'api_key',
  'project',
  'region',
  'aws_region_name',
  'aws_access_key_id',
  'aws_secret_access_key',
] as const

/** Whether two deployments use the same account: the same provider, address and credentials. Objects that the provider
 *  stores for one are then found through the other. */
export function sameAccount(one: Deployment, other: Deployment): boolean {
  if (one === other) return true
  if (one.provider.kind !== other.provider.kind || one.connection.origin !== other.connection.origin) return false
  const { parameters: own } = one.connection
  const { parameters: others } = other.connection
  return (
    CREDENTIALS.every((name) => same(own[name], others[name])) &&
    sameHeaders(one.connection.headers, other.connection.headers)
  )
}

function sameHeaders(one: Readonly<Record<string, Value>>, other: Readonly<Record<string, Value>>): boolean {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((name) => same(one[name], other[name]))
}

function same(one: Value, other: Value): boolean {
  if (typeof one === 'object' && typeof other === 'object') return sameSecret(one, other)
  return one === other
}
