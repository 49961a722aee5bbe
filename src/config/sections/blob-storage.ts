import { lazily } from '../../lib/lazily.ts'
import { operatorUrl, secretText, section, text } from '../fields.ts'

export const blobStorage = lazily(() =>
  section({
    endpoint: operatorUrl().describe('The address of the storage, without the bucket.'),
    bucket: text().describe('The bucket, which must exist.'),
    region: text().default('us-east-1').describe("The bucket's region."),
    access_key_id: text().describe('The id of the access key.'),
    secret_access_key: secretText().describe('The secret of the access key.'),
    session_token: secretText().optional().describe('The token that goes with a temporary access key.'),
    prefix: text().optional().describe('The prefix of the names of objects.'),
  }),
)
