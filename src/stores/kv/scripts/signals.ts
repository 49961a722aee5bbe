import type { DeploymentSignals } from '../deployment-signals.ts'
import { DEPLOYMENTS, readSignals } from './deployments.ts'
import { readList } from './reply.ts'
import { luaScript, type Script } from './script.ts'
import { deploymentKeys } from './script-keys.ts'

const TEXT = `
local signals = {}
for i = 1, #KEYS / 2 do signals[i] = signalsOf(readDeployment(key(), key())) end
return signals
`

export const signalsScript: Script<readonly string[], DeploymentSignals[]> = {
  text: luaScript(DEPLOYMENTS, TEXT),
  encode: (deployments) => ({ keys: deployments.map(deploymentKeys), args: '' }),
  decode: (reply, deployments) => deployments.map((deployment) => readSignals(readList(reply), deployment)),
}
