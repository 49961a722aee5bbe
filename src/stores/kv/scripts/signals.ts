import type { DeploymentSignals } from '../deployment-signals.ts'
import { activeKey, deploymentKey } from '../keys.ts'
import { DEPLOYMENTS, readSignals } from './deployments.ts'
import { luaScript, type Script } from './script.ts'

const TEXT = `
local signals = {}
for i = 1, #KEYS / 2 do signals[i] = signalsOf(readDeployment(key(), key())) end
return signals
`

export const signalsScript: Script<readonly string[], DeploymentSignals[]> = {
  text: luaScript(DEPLOYMENTS, TEXT),
  encode: (deployments) => ({
    keys: deployments.flatMap((deployment) => [deploymentKey(deployment), activeKey(deployment)]),
    args: [],
  }),
  decode: (reply, deployments) => deployments.map((deployment) => readSignals(reply.list(), deployment)),
}
