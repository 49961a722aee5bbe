/** The parts of a vendor's error. */
export interface WireError {
  readonly message: string | undefined
  readonly type: string | undefined
  readonly code: string | undefined
  readonly param: string | undefined
  /** The code of the inner error, the only place where Azure reports its filters. */
  readonly inner?: string | undefined
}
