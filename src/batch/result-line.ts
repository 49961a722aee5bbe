import { resultId } from './batch-ids.ts'

/** The request that a result belongs to. */
export interface ResultOf {
  readonly batchId: string
  readonly item: number
  readonly customId: string | null
}

/** The line of a request that was answered, whatever the status. `body` is the JSON that a client would have got. */
export function answeredLine(
  of: ResultOf,
  { status, requestId, body }: { readonly status: number; readonly requestId: string; readonly body: string },
): string {
  const response = `{"status_code":${status},"request_id":${JSON.stringify(requestId)},"body":${body}}`
  return `${head(of)},"response":${response},"error":null}`
}

/** The line of a request that was never answered. */
export function unansweredLine(of: ResultOf, error: { readonly code: string; readonly message: string }): string {
  const { code, message } = error
  return `${head(of)},"response":null,"error":${JSON.stringify({ code, message })}}`
}

function head({ batchId, item, customId }: ResultOf): string {
  return `{"id":"${resultId(batchId, item)}","custom_id":${JSON.stringify(customId)}`
}
