import { reveal, type Secret, secret } from '../lib/secret.ts'

export function bearer(key: Secret): Secret {
  return secret(`Bearer ${reveal(key)}`)
}
