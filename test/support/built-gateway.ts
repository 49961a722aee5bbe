import { buildGateway, builtIn } from './build-gateway.ts'
import { madeOnce } from './made-once.ts'

/** The gateway as it is installed, built once in a run of the tests. */
export const builtGateway = async () => builtIn(await madeOnce('gateway', buildGateway))
