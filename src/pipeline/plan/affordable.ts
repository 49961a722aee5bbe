import { GatewayError } from '../../lib/errors.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { priced } from '../../modes/price/cost.ts'
import { type AskedSurcharge, withoutPrice } from '../../modes/price/surcharges.ts'
import type { Deployment, Group } from '../../routing/deployment.ts'
import type { Caller } from '../caller.ts'
import type { Endpoint } from '../endpoint.ts'

export const hasBudget = ({ accounts }: Caller): boolean => accounts.some(({ limitNano }) => limitNano !== undefined)

/** The deployments that have prices for all surcharges that a request asks for. One without any price is kept, because
 *  its cost is unknown anyway. If none is left, throws a refusal that names the unpriced field. */
export function affordable(
  deployments: readonly Deployment[],
  { mode }: Endpoint,
  request: ModelRequest,
): readonly Deployment[] {
  const asked = mode.asks?.(request) ?? []
  if (asked.length === 0) return deployments
  let unpriced: AskedSurcharge | undefined
  const known = deployments.filter(({ info }) => {
    const missing = priced(info, mode) ? withoutPrice(info, asked) : undefined
    unpriced ??= missing
    return !missing
  })
  if (known.length > 0 || !unpriced) return known
  const { param, kind } = unpriced
  const setting = kind === 'term' ? 'price_multipliers' : 'tool_costs'
  const message = `'${param}' asks for something whose price is not known here, and a budget pays for this call. Leave it out, or have the operator set model_info.${setting}.`
  throw new GatewayError('invalid_request', message, { param, code: 'unpriced_parameter' })
}

/** The deployments with a price for this kind of request. If there is none, throws the refusal. */
export function billable(deployments: readonly Deployment[], { mode }: Endpoint, group: Group): readonly Deployment[] {
  const known = deployments.filter(({ info }) => priced(info, mode))
  if (known.length > 0) return known
  throw new GatewayError(
    'no_priced_deployment',
    `No deployment of '${group.name}' has a price for this kind of request, and calls of unknown price are refused.`,
    { param: 'model' },
  )
}
