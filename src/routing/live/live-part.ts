/** One kind of thing in the registry: what the file says of it, and what the database adds or replaces. */
export interface LivePart<Value> {
  /** By the file alone, until the database was read. */
  readonly ofFile: Value
  /** Reads the database. A record that is not valid in this build is logged and left out. */
  read(): Promise<Value>
}
