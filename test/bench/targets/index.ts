import { direct } from './direct.ts'
import { gateway, gatewayKey, gatewayPostgres, gatewayRedis } from './gateway.ts'
import { nginx } from './nginx.ts'
import { portkey } from './portkey.ts'
import { sinkTargets } from './sinks.ts'
import type { Target } from './target.ts'
import { workerd, workerdFloor, workerdObject, workerdProxy } from './workerd.ts'

export const TARGETS: readonly Target[] = [
  direct,
  nginx,
  portkey,
  gateway,
  gatewayKey,
  gatewayPostgres,
  gatewayRedis,
  workerdProxy,
  workerdFloor,
  workerd,
  workerdObject,
  ...sinkTargets,
]
