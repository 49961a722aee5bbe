import * as z from 'zod'
import { defineRoute, type Route } from './route.ts'
import { type ModelRoute, runModelCall } from './v1/model-route.ts'

/** Where clients of Azure call: `/openai/deployments/{model}/chat/completions`. */
export const DEPLOYMENTS = '/openai/deployments/'

/** The paths behind the name of a model, the longest first: `/completions` ends `/chat/completions` too. */
export function deploymentPaths(routes: readonly Route[]): readonly string[] {
  const paths = routes.filter(isNamed).map(({ contract }) => behindModel(contract.path))
  return paths.sort((one, other) => other.length - one.length)
}

/** The same calls with their model in the address, which goes before one in the body. They are counted and billed at
 *  their usual paths. */
export function deploymentRoutes(routes: readonly Route[]): readonly Route[] {
  return routes.filter(isNamed).map(({ contract, endpoint }) =>
    defineRoute(
      {
        ...contract,
        address: `/openai/deployments/{model}${behindModel(contract.path)}`,
        params: () => z.object({ model: z.string() }),
      },
      (scope) => {
        const { model } = scope.input.params
        return runModelCall(scope, endpoint, scope.caller(), { model, edit: () => ({ model }) })
      },
    ),
  )
}

const behindModel = (path: string) => path.slice('/v1'.length)

/** Model calls in OpenAI's shape. */
function isNamed(route: Route): route is ModelRoute {
  const { modelCall, path, errorBody } = route.contract
  return modelCall === true && path.startsWith('/v1/') && errorBody === undefined && 'endpoint' in route
}
