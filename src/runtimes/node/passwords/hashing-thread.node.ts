import { scryptSync } from 'node:crypto'
import { constants, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { SCRYPT_BYTES, type ScryptInput } from '../../../lib/crypto.ts'

/** Derives one key after the other, for the thread that started this one. */
export type Derived = { readonly key: Uint8Array } | { readonly error: string }

// Model calls go first. Linux keeps a priority for each thread; elsewhere it would be that of the whole process.
if (process.platform === 'linux') {
  try {
    setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Somebody does not allow it: it stays as it is.
  }
}

parentPort?.on('message', ({ password, salt, keyBytes, cost, blockSize, parallelization }: ScryptInput) => {
  parentPort?.postMessage(derived())

  function derived(): Derived {
    try {
      const options = { cost, blockSize, parallelization, maxmem: SCRYPT_BYTES }
      return { key: scryptSync(password, salt, keyBytes, options) }
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) }
    }
  }
})
