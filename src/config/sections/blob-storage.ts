import { lazily } from '../../lib/lazily.ts'
import { baseAddress, checked, secretText, section, text } from '../fields.ts'

const FOLDERS = /^(?!\.{1,2}(?:\/|$))[\w.-]{1,200}(?:\/(?!\.{1,2}(?:\/|$))[\w.-]{1,200})*$/

/** Without the slash that many write at its end: the names of objects add one. */
const prefix = () =>
  checked((value) =>
    FOLDERS.test(withoutSlashes(value))
      ? undefined
      : 'must be folders such as team/batches, of letters from A to Z, digits, dots, underscores and hyphens',
  ).transform(withoutSlashes)

const withoutSlashes = (value: string) => value.replace(/^\/+|\/+$/g, '')

export const blobStorage = lazily(() =>
  section({
    endpoint: baseAddress().describe('The address of the storage, without the bucket.'),
    bucket: text().describe('The bucket, which must exist.'),
    region: text().default('us-east-1').describe("The bucket's region."),
    access_key_id: text().describe('The id of the access key.'),
    secret_access_key: secretText().describe('The secret of the access key.'),
    session_token: secretText().optional().describe('The token that goes with a temporary access key.'),
    prefix: prefix().optional().describe('The prefix of the names of objects.'),
  }),
)
