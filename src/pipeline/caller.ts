import type { RecordVersion } from '../stores/kv/shared-store.ts'

/** Who is calling, once a credential has been accepted. */
export interface Caller {
  readonly kind: 'master_key' | 'api_key'
  readonly keyId: string | undefined
  readonly userId: string | undefined
  readonly teamId: string | undefined
  readonly organizationId: string | undefined
  /** The records that this was read from. Admission refuses a caller that is out of date. */
  readonly versions: readonly RecordVersion[]
}
