import { useState } from 'preact/hooks'
import { ApiError } from './client.ts'
import { refresh } from './query.ts'

interface Versioned {
  readonly version: number
}

/** Writes over the version that a form was filled from. A refusal because somebody else has changed the record meanwhile
 *  says so and has it read again: whoever saves once more saves over theirs on purpose. */
export function useVersion(
  record: Versioned | undefined,
  refreshes: readonly string[],
  read: () => Promise<Versioned>,
) {
  const [version, setVersion] = useState(record?.version)
  return async function over<Saved>(write: (version: number | undefined) => Promise<Saved>): Promise<Saved> {
    try {
      return await write(version)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'version_conflict') throw error
      const [theirs] = await Promise.all([read(), refresh(...refreshes)])
      setVersion(theirs.version)
      throw new Error(
        'Somebody else has changed this meanwhile. Cancel to see theirs, or save once more: what you changed is then written over it.',
      )
    }
  }
}
