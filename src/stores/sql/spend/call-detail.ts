/** The JSON that the ledger stores of a call in addition to its facts: attempts and tool calls, unless the facts hold
 *  all of them. Empty members are left out. Long lists keep their first and last entries. Times are counted from the
 *  arrival of the call, durations from the beginning of the attempt or tool call. */
export interface CallDetail {
  /** Empty if the facts hold everything. */
  readonly attempts: readonly AttemptDetail[]
  readonly tool_calls: readonly ToolCallDetail[]
  /** How many of them are missing in the middle. */
  readonly tool_calls_left_out?: number | undefined
  /** The trace that the client named. */
  readonly trace_id?: string | undefined
  /** The most that an account held for the call until it was settled. */
  readonly held_nano?: number | undefined
}

export interface AttemptDetail {
  readonly deployment: string
  readonly provider: string
  readonly group: string
  readonly turn: number
  readonly result: 'answered' | 'failed' | 'cut' | 'lost_hedge' | 'client_closed'
  readonly error?: string | undefined
  readonly message?: string | undefined
  readonly upstream_status?: number | undefined
  readonly upstream_message?: string | undefined
  readonly started_ms: number
  readonly first_token_ms?: number | undefined
  readonly total_ms: number
  readonly cost_nano?: number | undefined
  /** Its billed usage, without zeros. Absent if the facts hold it. */
  readonly usage?: UsedDetail | undefined
}

/** A usage without what is zero or empty. */
export type UsedDetail = Readonly<Record<string, number | string | boolean | Readonly<Record<string, string | number>>>>

export interface ToolCallDetail {
  readonly server: string
  readonly tool: string
  readonly result: 'ok' | 'error' | 'timeout' | 'failed'
  readonly started_ms?: number | undefined
  readonly total_ms: number
}
