import * as z from 'zod'
import { mistakeInOperatorUrl } from '../../config/operator-url.ts'
import { parseRecord } from '../../lib/json/lenient.ts'
import { lazily } from '../../lib/lazily.ts'
import { reveal, type Secret, secret } from '../../lib/secret.ts'

/** A service account of Google Cloud. */
export interface ServiceAccount {
  /** The whole key file, which identifies the account. */
  readonly keyFile: Secret
  readonly email: string
  readonly projectId: string | undefined
  readonly privateKey: Secret
  readonly privateKeyId: string | undefined
  readonly tokenUri: string
}

const keyFile = lazily(() =>
  z.object({
    type: z.literal('service_account'),
    client_email: z.string().min(1),
    private_key: z.string().includes('PRIVATE KEY'),
    private_key_id: z.string().optional(),
    project_id: z.string().optional(),
    token_uri: z.string().default('https://oauth2.googleapis.com/token'),
  }),
)

/** The service account whose key file is `api_key`; undefined for a plain API key. Throws a TypeError that shows nothing of
 *  the key file if it is invalid. */
export function serviceAccountOf(key: Secret): ServiceAccount | undefined {
  const text = reveal(key).trim()
  if (!text.startsWith('{')) return undefined
  const read = keyFile().safeParse(parseRecord(text))
  if (!read.success) {
    const [issue] = read.error.issues
    const field = issue?.path.join('.') || 'its JSON'
    throw new TypeError(`gateway_params.api_key is not the key file of a service account: look at ${field}`)
  }
  const { client_email, private_key, private_key_id, project_id, token_uri } = read.data
  const mistake = mistakeInOperatorUrl(token_uri)
  if (mistake) throw new TypeError(`token_uri in gateway_params.api_key ${mistake}`)
  return {
    keyFile: secret(text),
    email: client_email,
    projectId: project_id,
    // In environment files the line ends of the key are often escaped twice.
    privateKey: secret(private_key.replaceAll('\\n', '\n')),
    privateKeyId: private_key_id,
    tokenUri: token_uri,
  }
}
