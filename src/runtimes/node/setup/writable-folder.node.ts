import { accessSync, constants, mkdirSync } from 'node:fs'
import { resolve } from 'node:path'

/** Creates the data folder, for its owner only. Throws if it cannot be written to. */
export function writableFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(
      `The data folder ${resolve(path)} cannot be written to (${code}). Set GATEWAY_DATA_DIR to one that can.`,
    )
  }
}

/** What is missing to a gateway whose database is elsewhere and which cannot write to its data folder: it starts
 *  nevertheless. undefined if it can. */
export function whyNotWritable(path: string): string | undefined {
  try {
    writableFolder(path)
  } catch (error) {
    const { message } = error as Error
    return `${message} Records that wait for the database are only in memory, and the files of batches are refused.`
  }
}
