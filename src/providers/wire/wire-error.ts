/** An error in a vendor's words, whatever it calls their parts. */
export interface WireError {
  readonly message: string | undefined
  readonly type: string | undefined
  readonly code: string | undefined
  readonly param: string | undefined
  /** The code of the error behind it: Azure's filters speak only there. */
  readonly inner?: string | undefined
}
