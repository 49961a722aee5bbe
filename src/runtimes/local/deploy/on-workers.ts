import type { Mistake } from '../../../config/config-error.ts'
import type { Config } from '../../../config/schema.ts'
import { missingSmtp } from '../../../mail/senders.ts'
import { missingS3Key } from '../../../telemetry/sinks/configured-s3.ts'

/** What a Worker does not start with, though Node does. `bindsLogs`: it has a bucket for the sink s3. */
export function mistakesOnWorkers(config: Config, bindsLogs: boolean): Mistake[] {
  return [...missingSmtp(config), ...(bindsLogs ? [] : missingS3Key(config))]
}
