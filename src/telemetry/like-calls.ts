import type { CallFinished } from './events.ts'

/** Of so many kinds in all, and so many of one key at one deployment, all are forgotten. */
const MOST = 20_000
const MOST_OF_ONE = 64

/** What calls are told apart by. */
export type Outline = Pick<
  CallFinished,
  | 'endpoint'
  | 'mode'
  | 'requestedModel'
  | 'model'
  | 'deployment'
  | 'provider'
  | 'keyId'
  | 'teamId'
  | 'organizationId'
  | 'userId'
  | 'streamed'
  | 'status'
  | 'errorType'
  | 'cache'
>

/** Remembers what is made for calls that are alike: of one caller at one deployment, with one outcome. */
export function ofLikeCalls<Made>(make: (call: Outline) => Made): (call: CallFinished) => Made {
  const remembered = new Map<string, Map<string, { readonly outline: Outline; readonly made: Made }[]>>()
  let count = 0

  function remember(call: CallFinished): Made {
    if (count === MOST) {
      remembered.clear()
      count = 0
    }
    count += 1
    const ofKey = remembered.get(call.keyId) ?? new Map()
    remembered.set(call.keyId, ofKey)
    const alike = ofKey.get(call.deployment) ?? []
    ofKey.set(call.deployment, alike)
    if (alike.length === MOST_OF_ONE) alike.length = 0
    const outline = outlineOf(call)
    const made = make(outline)
    alike.push({ outline, made })
    return made
  }

  return (call) => {
    const alike = remembered.get(call.keyId)?.get(call.deployment) ?? NONE
    // No iterator: it would cost more than the comparison.
    for (let index = 0; index < alike.length; index++) {
      const one = alike[index] as (typeof alike)[number]
      if (areAlike(one.outline, call)) return one.made
    }
    return remember(call)
  }
}

const NONE: readonly never[] = []

/** Without the rest of the call, which would stay in memory. */
function outlineOf(call: CallFinished): Outline {
  return {
    endpoint: call.endpoint,
    mode: call.mode,
    requestedModel: call.requestedModel,
    model: call.model,
    deployment: call.deployment,
    provider: call.provider,
    keyId: call.keyId,
    teamId: call.teamId,
    organizationId: call.organizationId,
    userId: call.userId,
    streamed: call.streamed,
    status: call.status,
    errorType: call.errorType,
    cache: call.cache,
  }
}

/** Key and deployment are equal. */
function areAlike(one: Outline, other: Outline): boolean {
  return (
    one.status === other.status &&
    one.streamed === other.streamed &&
    one.cache === other.cache &&
    one.requestedModel === other.requestedModel &&
    one.model === other.model &&
    one.endpoint === other.endpoint &&
    one.mode === other.mode &&
    one.provider === other.provider &&
    one.teamId === other.teamId &&
    one.organizationId === other.organizationId &&
    one.userId === other.userId &&
    one.errorType === other.errorType
  )
}
