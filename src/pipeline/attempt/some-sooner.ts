import type { DeploymentSignals } from '../../stores/kv/deployment-signals.ts'
import type { Call } from '../call.ts'
import { takingCalls } from '../plan/candidate.ts'
import { learnSignals } from '../plan/learn-signals.ts'
import type { Plan } from '../plan/plan.ts'
import type { PipelineServices } from '../services.ts'

/** The assumed latency of a deployment without samples. */
const UNMEASURED_MS = 1000

/** Whether an available deployment of an untried group would probably answer before `by`, by `performance.now()`. */
export async function someSooner(
  services: PipelineServices,
  call: Call,
  plans: readonly Plan[],
  by: number,
): Promise<boolean> {
  const deployments = plans.flatMap((plan) => plan.order())
  await learnSignals(services, call, deployments)
  const left = by - performance.now()
  const usualMs = ({ samples, firstTokenMs, latencyMs }: DeploymentSignals) =>
    samples === 0 ? UNMEASURED_MS : call.streamed ? firstTokenMs : latencyMs
  const taking = takingCalls(services)
  return deployments.some((one) => taking(one) && usualMs(services.signals.of(one.id)) <= left)
}
